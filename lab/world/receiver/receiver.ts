import type { ServerResponse } from 'node:http';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
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
