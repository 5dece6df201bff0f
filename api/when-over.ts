import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is to be done when a connection ends: one listener, however many requests came on it. */
const atEnd = new WeakMap<Socket, Set<() => void>>();

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
  const forget = (): void => {
    others.delete(over);
    res.off('close', over);
  };
  const over = (): void => {
    if (others.delete(over)) act();
  };
  others.add(over);
  res.on('close', over);
  return forget;
}

function listenTo(socket: Socket): Set<() => void> {
  const acts = new Set<() => void>();
  atEnd.set(socket, acts);
  socket.once('close', () => {
    for (const act of acts) act();
  });
  return acts;
}
