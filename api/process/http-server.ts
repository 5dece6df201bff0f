import { createServer, IncomingMessage, type Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Express } from 'express';
import { MAX_HEADER_BYTES } from '../../shared/limits/bounds.js';
import { InFlight } from '../../shared/process/in-flight.js';
import { onClose } from '../http/on-close.js';
import { boundConnections } from './bound-connections.js';

/**
 * Longer than the idle timeout of a Heroku router (90 s), so that the router never writes to a connection that was
 * just closed.
 */
const KEEP_ALIVE_MS = 95_000;

/** Longer than a busy process takes to read a request that has arrived. */
const IDLE_MOMENT_MS = 1000;
/** Node's default length of the kernel's accept queue. */
const BACKLOG = 511;
/** The accept queue counts as empty after this many turns of the event loop without a new connection. */
const QUIET_TURNS = 3;

/**
 * Timeouts for clients. None of them runs while a complete request waits for its response, which takes up to
 * SETTLE_WAIT_MS for a payment; they are for clients that keep a connection open and send, or read, nothing.
 */
interface ClientTimes {
  /** The time from the connection, or a request's first byte, to the end of the headers. */
  headersMs: number;
  /** The time from a request's first byte to its last: 2 MiB on a slow line. */
  requestMs: number;
  /** The time without a byte sent or received; longer than any response takes. */
  silenceMs: number;
  /** How often Node checks the first two. */
  checkEveryMs: number;
}

export const CLIENT_TIMES: ClientTimes = {
  headersMs: 20_000,
  requestMs: 60_000,
  silenceMs: 180_000,
  checkEveryMs: 5000,
};

export function createHttpServer(app: Express, times: ClientTimes = CLIENT_TIMES): Server {
  const classes = expressClasses(app);
  const server = createServer({
    ...classes,
    // A request without one is answered by the app.
    requireHostHeader: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: times.headersMs,
    requestTimeout: times.requestMs,
    connectionsCheckingInterval: times.checkEveryMs,
  });
  boundConnections(server, classes, { countsAddresses: !app.enabled('trust proxy') });
  server.on('request', app);
  return server.setTimeout(times.silenceMs);
}

/**
 * Creates requests and responses with the prototypes of Express. Express would set them on every request, which V8
 * is slow at: it costs a fifth of the time of a request and, since such objects live until a full garbage
 * collection, twice the memory.
 */
function expressClasses(app: Express) {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

interface DrainTimes {
  /** Connections are accepted until this promise resolves. */
  handedOver: Promise<void>;
  /** The remaining connections are cut after this time. */
  timeoutMs: number;
}

/**
 * Answers every request with `Connection: close`, stops accepting when it has `handedOver`, and cuts the remaining
 * connections after `timeoutMs`. A connection that looks idle may hold an unread request, so idle connections are closed
 * after IDLE_MOMENT_MS, and after their input is read: the timer of a busy process is due before that.
 */
export async function drain(
  server: Server,
  inFlight: InFlight<ServerResponse>,
  { handedOver, timeoutMs }: DrainTimes,
): Promise<void> {
  const endConnection = (response: ServerResponse): void => {
    if (!response.headersSent) response.setHeader('Connection', 'close');
  };
  for (const response of inFlight.all()) endConnection(response);
  server.prependListener('request', (_request, response: ServerResponse) => endConnection(response));
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await handedOver;
  await acceptPending(server);
  // `http.Server.close` would end idle connections at once.
  const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
  const closeIdle = setInterval(() => setImmediate(() => server.closeIdleConnections()), IDLE_MOMENT_MS);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(cut);
}

/**
 * Accepts the connections in the kernel's queue: a busy or paused process may get the signal before it has accepted
 * them, and closing the port would reset them. Node accepts one connection per turn of the event loop.
 */
async function acceptPending(server: Server): Promise<void> {
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

/** Tracks the responses in flight. */
export function trackInFlight(server: Server): InFlight<ServerResponse> {
  const inFlight = new InFlight<ServerResponse>();
  server.prependListener('request', (_request, response: ServerResponse) => {
    onClose(response, inFlight.add(response));
  });
  return inFlight;
}
