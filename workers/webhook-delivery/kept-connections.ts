import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/**
 * A receiver may close a kept connection just as it is used again. Then nothing of the answer has come, and the request
 * is to be sent again on a new connection; undici does so by itself for GET only.
 */
export interface KeptConnections {
  connect: buildConnector.connector;
  /** The error ended a connection that had been used before, and with no byte of the last answer. */
  hadClosed(error: unknown): boolean;
  close(): void;
}

const SEND_HEADERS = 'undici:client:sendHeaders';

export function watchKeptConnections(connect: buildConnector.connector): KeptConnections {
  /** What had been read on each connection when its last request began. */
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
