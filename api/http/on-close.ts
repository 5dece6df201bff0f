import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { InFlight } from '../../shared/process/in-flight.js';

/** What is to be done when a connection ends: one listener, however many requests came on it. */
const atEnd = new WeakMap<Socket, InFlight<() => void>>();

/**
 * Once, when an answer is sent or never will be. One that stands in line behind others of its connection is not told when
 * that breaks: Node closes only the answer that is being sent. Returns how not to be told any more.
 */
export function whenOver(res: ServerResponse, act: () => void): () => void {
  const { socket } = res.req;
  if (res.closed || socket.destroyed) {
    act();
    return () => undefined;
  }
  const others = atEnd.get(socket) ?? listenTo(socket);
  const over = (): void => {
    if (takeOut()) act();
  };
  const takeOut = others.add(over);
  const forget = (): void => {
    res.off('close', over);
    takeOut();
  };
  res.on('close', over);
  return forget;
}

function listenTo(socket: Socket): InFlight<() => void> {
  const acts = new InFlight<() => void>();
  atEnd.set(socket, acts);
  socket.once('close', () => {
    for (const act of acts.all()) act();
  });
  return acts;
}
