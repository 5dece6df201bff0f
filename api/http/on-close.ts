import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { InFlight } from '../../shared/process/in-flight.js';

/** Callbacks by socket: one `close` listener for each socket, however many requests it carries. */
const callbacks = new WeakMap<Socket, InFlight<() => void>>();

/**
 * Calls `callback` once, when the response is finished or its connection is closed. Node emits `close` only on the
 * response that is being sent, not on pipelined ones behind it, so the socket is watched too. Returns a function
 * that unregisters the callback.
 */
export function onClose(res: ServerResponse, callback: () => void): () => void {
  const { socket } = res.req;
  if (res.closed || socket.destroyed) {
    callback();
    return () => undefined;
  }
  const registered = callbacks.get(socket) ?? listenTo(socket);
  const closed = (): void => {
    if (remove()) callback();
  };
  const remove = registered.add(closed);
  res.on('close', closed);
  return () => {
    res.off('close', closed);
    remove();
  };
}

function listenTo(socket: Socket): InFlight<() => void> {
  const registered = new InFlight<() => void>();
  callbacks.set(socket, registered);
  socket.once('close', () => {
    for (const callback of registered.all()) callback();
  });
  return registered;
}
