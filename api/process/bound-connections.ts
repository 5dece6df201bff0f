import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal } from '../../shared/errors/refusal.js';
import {
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_OF_ADDRESS,
  MAX_REQUEST_HEADERS,
} from '../../shared/limits/bounds.js';
import { Tally } from '../../shared/limits/tally.js';
import { InFlight } from '../../shared/process/in-flight.js';
import { TurnTime } from '../../shared/process/turn-time.js';
import { noteHeadless } from '../http/unreadable-request.js';
import { addressKey } from '../limits/address-key.js';
import { Connection } from './connection.js';
import { HeldInput } from './held-input.js';
import { Turns } from './turns.js';

/** Milliseconds in a turn of the event loop. With less time than the rest of a turn takes, requests would pile up. */
const ARRIVALS_MS = 10;

/** Constructors of the server's requests and answers. */
interface MessageClasses {
  IncomingMessage: new (socket: Socket) => IncomingMessage;
  ServerResponse: new (req: IncomingMessage) => ServerResponse;
}

/**
 * Holds every connection of the server to its bounds. `drop` is emitted for each refused connection. Node's
 * `closeIdleConnections` would cut connections whose requests wait for their turn here, since Node has not seen these
 * requests.
 */
export function boundConnections(
  server: Server,
  classes: MessageClasses,
  { countsAddresses }: { countsAddresses: boolean },
): void {
  const connections = new WeakMap<Socket, Connection>();
  const open = new InFlight<Connection>();
  const admit = countsAddresses ? addressGate() : () => true;
  const deps = {
    held: new HeldInput(),
    turns: new Turns(),
    arrivalTime: new TurnTime(ARRIVALS_MS),
    answer: (socket: Socket, refusal: Refusal) => answerUnread(server, classes, socket, refusal),
  };
  // Requests of a thousand connections that are opened together would all be read in one turn of the event loop.
  const startTime = new TurnTime();
  server.maxConnections = MAX_CONNECTIONS;
  // Node drops the headers beyond this number without a word; one more is kept, to be counted.
  server.maxHeadersCount = MAX_REQUEST_HEADERS + 1;
  const [begin] = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket) => {
    if (!admit(socket)) {
      socket.destroy();
      server.emit('drop');
      return;
    }
    const start = (): void => {
      socket.off('error', destroy);
      if (socket.destroyed) return;
      begin?.call(server, socket);
      const connection = new Connection(socket, deps);
      connections.set(socket, connection);
      socket.once('close', open.add(connection));
    };
    if (startTime.ask(start)) start();
    else socket.on('error', destroy);
  });
  server.on('request', (req, res) => connections.get(req.socket)?.begin(req, res));
  // An expectation that is not known may be ignored.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  server.on('clientError', (error, socket) => connections.get(socket as Socket)?.fail(error));
  server.closeIdleConnections = () => {
    for (const connection of open.all()) if (connection.isIdle()) connection.cut();
  };
}

/** A connection that breaks before it is started. */
function destroy(this: Socket): void {
  this.destroy();
}

/** Counts connections by address. A peer that is gone already has none. */
function addressGate(): (socket: Socket) => boolean {
  const connections = new Tally();
  return (socket) => {
    if (socket.remoteAddress === undefined) return false;
    const address = addressKey({ socket });
    if (connections.of(address) >= MAX_CONNECTIONS_OF_ADDRESS) return false;
    connections.add(address, 1);
    socket.once('close', () => connections.add(address, -1));
    return true;
  };
}

/** The refusal passes through the app, so that it has the headers of every answer, is counted and is logged. */
function answerUnread(
  server: Server,
  { IncomingMessage, ServerResponse }: MessageClasses,
  socket: Socket,
  refusal: Refusal,
): void {
  const req = new IncomingMessage(socket);
  req.method = 'GET';
  req.url = '/';
  req.httpVersion = '1.1';
  req.httpVersionMajor = 1;
  req.httpVersionMinor = 1;
  req.headers.host = '';
  req.complete = true;
  req.push(null);
  const res = new ServerResponse(req);
  res.shouldKeepAlive = false;
  res.assignSocket(socket);
  res.once('finish', () => {
    res.detachSocket(socket);
    res.emit('close');
  });
  noteHeadless(req, refusal);
  server.emit('request', req, res);
}
