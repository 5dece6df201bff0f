import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply } from './client.js';
import type { HeavyOperation } from './heavy-operation.js';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const LAST_HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
const DOCUMENT = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n';
const HELD_MS = 3000;
const NEW_CONNECTIONS = 500;
const PIPELINED = 2000;
const HALF_SENT = 1500;
const UNREAD = 500;
const HALF_HEAD = `GET / HTTP/1.1\r\nHost: x\r\n${`X-Header-Of-A-Half-Sent-Request: ${'x'.repeat(470)}\r\n`.repeat(55)}`;
const LONG_HEAD = `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`;
const AFTER_IT = 'x'.repeat(2 * 1024 * 1024);

/** Loads that are no requests of an ordinary client. */
export const FLOODS: readonly HeavyOperation[] = [
  {
    name: `${NEW_CONNECTIONS} new connections at once`,
    connections: 1,
    units: ['MAX_CONNECTIONS', 'MAX_CONNECTIONS_OF_ADDRESS'],
    once: ({ url }) => exchangeMany(url, NEW_CONNECTIONS, LAST_HEALTH),
  },
  {
    name: '6 connections that pipeline',
    connections: 6,
    units: ['MAX_UNANSWERED_OF_CONNECTION'],
    once: ({ url }) => exchangeMany(url, 1, HEALTH.repeat(PIPELINED) + LAST_HEALTH),
  },
  {
    name: `${HALF_SENT} half-sent requests`,
    connections: 1,
    units: ['HELD_INPUT', 'MAX_REQUEST_HEADERS'],
    once: ({ url }) => hold(url, HALF_SENT, HALF_HEAD, { reads: true }),
  },
  {
    name: 'heads that are too long',
    connections: 20,
    units: ['MAX_HEADER_BYTES', 'READ_OUT'],
    once: ({ url }) => exchangeMany(url, 1, LONG_HEAD + AFTER_IT),
  },
  {
    name: `${UNREAD} unread answers`,
    connections: 1,
    units: ['UNREAD_ANSWERS'],
    once: ({ url }) => hold(url, UNREAD, DOCUMENT.repeat(4), { reads: false }),
  },
];

/** Opens so many connections at the same moment, and sends the same bytes on each. */
async function exchangeMany(url: string, connections: number, bytes: string): Promise<Reply> {
  const began = performance.now();
  const answered = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = open(url).resume();
      socket.write(bytes);
      await once(socket, 'close').catch(() => undefined);
      return socket.bytesRead > 0;
    }),
  );
  return replyOf(answered.every(Boolean), began);
}

/** Sends the same bytes on so many connections, and keeps them open for a while. */
async function hold(
  url: string,
  connections: number,
  bytes: string,
  { reads }: { reads: boolean },
): Promise<Reply> {
  const began = performance.now();
  const sockets = Array.from({ length: connections }, () => open(url));
  for (const socket of sockets) {
    if (reads) socket.resume();
    else socket.pause();
    socket.write(bytes);
  }
  await sleep(HELD_MS);
  for (const socket of sockets) socket.destroy();
  return replyOf(true, began);
}

function open(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return socket.on('error', () => socket.destroy());
}

function replyOf(isFine: boolean, began: number): Reply {
  return { status: isFine ? 200 : 0, headers: {}, text: '', ms: performance.now() - began };
}
