import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to be done when a connection ends: one listener, however many requests came on it. */
const atEnd = new WeakMap<Socket, Set<() => void>>();

/**
 * Once, when an answer is sent or never will be. One that stands in line behind others of its connection is not told when
 * that breaks: Node closes only the answer that is being sent.
 */
export function whenOver(res: ServerResponse, act: () => void): void {
  const { socket } = res.req;
  const isOver = res.closed || socket.destroyed;
  if (isOver) {
    act();
    return;
  }
  const others = atEnd.get(socket) ?? listenTo(socket);
  const over = (): void => {
    if (!others.delete(over)) return;
    res.off('close', over);
    act();
  };
  others.add(over);
  res.once('close', over);
}

function listenTo(socket: Socket): Set<() => void> {
  const acts = new Set<() => void>();
  atEnd.set(socket, acts);
  socket.once('close', () => {
    for (const act of acts) act();
  });
  return acts;
}
