import { createServer as createPlainServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listen } from '../../world/http/listen.js';
import { SELF_SIGNED } from '../../world/processes/self-signed.js';

/** A server that answers every request without end. */
export interface HostileServer {
  url: string;
  stop(): Promise<void>;
}

const EARLY = 'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n'.repeat(1000);
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
const CHUNKS = '1\r\nx\r\n'.repeat(10_000);
const JSON_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n';
const LOGS = '[1,'.repeat(20_000);

/** Receivers of webhooks and hosts of images over TLS: interim answers, and on every second connection one-byte chunks. */
export async function startHostileHosts(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createTlsServer(SELF_SIGNED, (socket) => {
    connections += 1;
    if (connections % 2 === 1) keepSpeaking(socket, sockets, EARLY);
    else keepSpeaking(socket, sockets, CHUNKS, CHUNKED);
  });
  return await open(server, sockets, 'https://localhost');
}

/** A chain's endpoint: an answer without end. */
export async function startHostileChain(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const server = createPlainServer((socket) => keepSpeaking(socket, sockets, LOGS, JSON_HEAD));
  return await open(server, sockets, 'http://127.0.0.1');
}

async function open(
  server: ReturnType<typeof createPlainServer>,
  sockets: Set<Socket>,
  origin: string,
): Promise<HostileServer> {
  return {
    url: `${origin}:${await listen(server, 0)}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
}

function keepSpeaking(socket: Socket, sockets: Set<Socket>, block: string, head = ''): void {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
  socket.on('error', () => socket.destroy());
  const speak = (): void => {
    while (!socket.destroyed && socket.write(block));
    socket.once('drain', speak);
  };
  socket.once('data', () => {
    socket.write(head);
    speak();
  });
}
