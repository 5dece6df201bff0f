import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Acts = Set<() => void>;

/** The answers that each connection owes: one listener for it, and one for each answer, whoever waits for its end. */
const owed = new WeakMap<Socket, Map<ServerResponse, Acts>>();

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
  const acts = actsOf(res, socket);
  acts.add(act);
  return () => acts.delete(act);
}

function actsOf(res: ServerResponse, socket: Socket): Acts {
  const answers = owed.get(socket) ?? listenTo(socket);
  const known = answers.get(res);
  if (known !== undefined) return known;
  const acts: Acts = new Set();
  answers.set(res, acts);
  res.once('close', () => end(answers, res));
  return acts;
}

function listenTo(socket: Socket): Map<ServerResponse, Acts> {
  const answers = new Map<ServerResponse, Acts>();
  owed.set(socket, answers);
  socket.once('close', () => {
    for (const res of answers.keys()) end(answers, res);
  });
  return answers;
}

function end(answers: Map<ServerResponse, Acts>, res: ServerResponse): void {
  const acts = answers.get(res);
  answers.delete(res);
  for (const act of acts ?? []) act();
}
