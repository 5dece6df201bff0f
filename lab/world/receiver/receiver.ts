import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { nowMs } from '../../../shared/process/clock.js';
import { serveLocally } from '../http/listen.js';

/**
 * A merchant's webhook endpoint in this process, with settable reactions. It keeps every request, whatever it answers.
 */
export interface Receiver {
  url: string;
  got: readonly ReceivedEvent[];
  /** The number of connections that were opened to it. */
  connections(): number;
  /** Sets the reaction to each further attempt; at first it answers 200. */
  react(reaction: Reaction): void;
  close(): Promise<void>;
}

export interface ReceivedEvent {
  path: string;
  headers: IncomingHttpHeaders;
  raw: string;
  at: number;
  /** The connection that the request arrived on. */
  socket: Socket;
}

export type Reaction = (response: ServerResponse, event: ReceivedEvent) => void;

export const answer =
  (status: number, body = '', headers: Record<string, string> = {}): Reaction =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** Never answers. */
export const hang: Reaction = () => {};

/** Sends the status line and headers, and never ends the body. */
export const hangInBody: Reaction = (response) => {
  response.writeHead(200).write('so far');
};

export const reset: Reaction = (response) => {
  response.socket?.resetAndDestroy();
};

/** Never answers, and ends the connection after so long. */
export const hangFor =
  (ms: number): Reaction =>
  (response) => {
    const timer = setTimeout(() => response.destroy(), ms);
    response.once('close', () => clearTimeout(timer));
  };

/** Verifies `service-signature` as a merchant does: the HMAC of time and body, at most five minutes old. */
export function isSigned({ headers, raw }: ReceivedEvent, secret: string, seconds = 300): boolean {
  const header = String(headers['service-signature']);
  const [, time, signature = ''] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (time === undefined || Math.abs(nowMs() / 1000 - Number(time)) > seconds) return false;
  const expected = createHmac('sha256', secret).update(`${time}.${raw}`).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}

export async function startReceiver(tls?: { key: string; cert: string }): Promise<Receiver> {
  const got: ReceivedEvent[] = [];
  let connections = 0;
  let reaction = answer(200);
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('connection', () => {
    connections += 1;
  });
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const { headers, socket, url = '' } = request;
      const event = {
        path: url,
        headers,
        raw: Buffer.concat(chunks).toString(),
        at: performance.now(),
        socket,
      };
      got.push(event);
      reaction(response, event);
    });
  });
  const { url, close } = await serveLocally(server);
  return {
    url: `${url}/hooks`,
    got,
    connections: () => connections,
    react(next) {
      reaction = next;
    },
    close,
  };
}
