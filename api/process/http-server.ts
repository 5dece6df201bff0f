import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Express } from 'express';
import { InFlight } from '../../shared/process/in-flight.js';
import { whenOver } from '../http/on-close.js';

/** Longer than a router keeps its side open (90 s), so that it never writes into a connection we just closed. */
const KEEP_ALIVE_MS = 95_000;
/** A payment header has up to 16 KiB, and is not alone. */
const MAX_HEADER_BYTES = 32 * 1024;

/** Longer than a busy process takes to read what has come to it. */
const IDLE_MOMENT_MS = 1000;
/** What the kernel keeps for us until we accept it: Node's own default. */
const BACKLOG = 511;
/** Of the event loop, in which nobody was let in: then nobody is left who came before. */
const QUIET_TURNS = 3;

/**
 * How long a client may take. None of these runs while a whole request waits for its answer, as a paying one does for
 * up to SETTLE_WAIT_MS: they are there for clients that keep a connection and send, or read, nothing.
 */
interface ClientTimes {
  /** From the connection, or a request's first byte, to the end of its headers. */
  headersMs: number;
  /** From a request's first byte to its last: 2 MiB on a slow line. */
  requestMs: number;
  /** Neither a byte sent nor one taken; longer than any answer takes. */
  silenceMs: number;
  /** How often the first two are looked at. */
  checkEveryMs: number;
}

export const CLIENT_TIMES: ClientTimes = {
  headersMs: 20_000,
  requestMs: 60_000,
  silenceMs: 180_000,
  checkEveryMs: 5000,
};

export function createHttpServer(app: Express, times: ClientTimes = CLIENT_TIMES): Server {
  const server = createServer(
    {
      ...ofExpress(app),
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: times.headersMs,
      requestTimeout: times.requestMs,
      connectionsCheckingInterval: times.checkEveryMs,
    },
    app,
  );
  return server.setTimeout(times.silenceMs);
}

/**
 * Express gives each request and each answer another prototype. V8 takes long for that, and keeps what they refer to until
 * it looks through the whole heap: a fifth of a request's time, and twice the memory. They are made with it instead.
 */
function ofExpress(app: Express): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/**
 * Stops accepting, answers what has come, telling each client that its connection ends, and cuts what is left after a
 * while. A connection that looks idle may hold a request that was not read yet: those are given a moment.
 */
export async function drain(
  server: Server,
  inFlight: InFlight<ServerResponse>,
  timeoutMs: number,
): Promise<void> {
  await letIn(server);
  // An HTTP server's own `close` ends idle connections at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const endConnection = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  for (const response of inFlight.all()) endConnection(response);
  server.prependListener('request', (_request, response: ServerResponse) => endConnection(response));
  const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_MOMENT_MS);
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(cut);
}

/**
 * Accepts what the kernel has taken for us: a process that is busy, or stood still, hears of the signal before. Node
 * accepts one connection a turn, and whoever is still in line when the port closes is cut off.
 */
async function letIn(server: Server): Promise<void> {
  let accepted = 0;
  const count = (): void => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let quiet = 0; quiet < QUIET_TURNS && accepted < BACKLOG; ) {
    const before = accepted;
    await nextTurn();
    quiet = accepted === before ? quiet + 1 : 0;
  }
  server.off('connection', count);
}

/** The answers that a server still owes. */
export function trackInFlight(server: Server): InFlight<ServerResponse> {
  const inFlight = new InFlight<ServerResponse>();
  server.prependListener('request', (_request, response: ServerResponse) => {
    whenOver(response, inFlight.add(response));
  });
  return inFlight;
}
