import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { TurnTime } from '../process/turn-time.js';
import { type AnswerBounds, AnswerMeter } from './answer-meter.js';
import { OutOfBounds } from './out-of-bounds.js';

/**
 * The parser gets an answer in slices of at most this length, and the socket may be destroyed between two slices: a server
 * can make the parser do at once only the work of one slice.
 */
const SLICE_BYTES = 4096;

const meters = new WeakMap<Socket, AnswerMeter>();
/** A connection without time left keeps its bytes, up to the socket's own buffer. */
const parseTime = new TurnTime();

// Undici tells each request on a connection right before it writes its headers.
subscribe('undici:client:sendHeaders', (message) => {
  const socket = typeof message === 'object' && message !== null && Reflect.get(message, 'socket');
  if (socket instanceof Socket) meters.get(socket)?.restart();
});

/** Connects, and destroys the socket with OutOfBounds as soon as an answer on it exceeds a bound. */
export function guardConnect(
  connect: buildConnector.connector,
  bounds: AnswerBounds,
): buildConnector.connector {
  return (options, callback) => {
    connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
      if (error !== null) return callback(error, null);
      guard(socket, new AnswerMeter(bounds));
      callback(null, socket);
    });
  };
}

/** Undici takes all bytes of a socket by `read`. */
function guard(socket: Socket, meter: AnswerMeter): void {
  meters.set(socket, meter);
  const read = socket.read.bind(socket);
  const unshift = socket.unshift.bind(socket);
  const goOn = (): void => {
    socket.emit('readable');
  };
  socket.read = (size?: number): unknown => {
    if (size !== undefined) return read(size);
    const { readableLength } = socket;
    if (socket.destroyed || (readableLength > 0 && !parseTime.ask(goOn))) return null;
    const piece: unknown = readableLength > SLICE_BYTES ? read(SLICE_BYTES) : read();
    const bound = Buffer.isBuffer(piece) ? meter.add(piece) : undefined;
    if (bound === undefined) return piece;
    socket.destroy(new OutOfBounds(bound));
    return null;
  };
  socket.unshift = (rest: Buffer): void => {
    meter.putBack(rest.length);
    unshift(rest);
  };
}
