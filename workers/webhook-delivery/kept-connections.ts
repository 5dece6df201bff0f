import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * Closes a race: a receiver may close a kept-alive connection just as the next request is sent on it. Then no byte of the
 * answer has arrived, and the request must be sent again on a new connection. Undici does that by itself for GET only.
 */
interface KeptConnections {
  connect: buildConnector.connector;
  /** Whether the error ended a connection that had been used before, with no byte of the last answer. */
  hadClosed(error: unknown): boolean;
  close(): void;
}

const SEND_HEADERS = 'undici:client:sendHeaders';

export function watchKeptConnections(connect: buildConnector.connector): KeptConnections {
  /** The bytes that had been read on each connection when its last request began. */
  const readBefore = new WeakMap<Socket, number>();
  const errors = new WeakSet<object>();
  const onSendHeaders = (message: unknown): void => {
    const socket = typeof message === 'object' && message !== null && Reflect.get(message, 'socket');
    if (socket instanceof Socket) readBefore.set(socket, socket.bytesRead);
  };
  subscribe(SEND_HEADERS, onSendHeaders);
  const watch = (socket: Socket): void => {
    socket.once('error', (error) => {
      const before = readBefore.get(socket) ?? 0;
      if (before > 0 && socket.bytesRead === before) errors.add(error);
    });
  };
  return {
    connect(options, callback) {
      connect(options, (...[error, socket]: Parameters<buildConnector.Callback>) => {
        if (error !== null) return callback(error, null);
        watch(socket);
        callback(null, socket);
      });
    },
    hadClosed: (error) => error instanceof Error && errors.has(error),
    close: () => {
      unsubscribe(SEND_HEADERS, onSendHeaders);
    },
  };
}
