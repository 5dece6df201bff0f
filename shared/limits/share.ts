/** The processes that call the facilitator, by what they ask of it. */
export type CallerKind = 'web' | 'worker';
export type Callers = Readonly<Record<CallerKind, number>>;

/** Until it is known: what runs on one machine. */
export const ONE_OF_EACH: Callers = { web: 1, worker: 1 };

/** A settlement takes several times as long as a look at a signature, and there are as many of each. */
const WEIGHTS: Callers = { web: 1, worker: 3 };

/** Connections that one process of a kind may have, one at least. */
export function shareOfConnections(total: number, kind: CallerKind, callers: Callers): number {
  return Math.max(1, Math.floor(total * part(kind, callers, WEIGHTS)));
}

/** Of all calls a second, by what part of them one process of a kind may make. */
export function shareOfCalls(kind: CallerKind, callers: Callers): number {
  return part(kind, callers, { web: 1, worker: 1 });
}

function part(kind: CallerKind, callers: Callers, weights: Callers): number {
  const other: CallerKind = kind === 'web' ? 'worker' : 'web';
  const ofOthers = callers[other] > 0 ? weights[other] : 0;
  return weights[kind] / (weights[kind] + ofOthers) / Math.max(1, callers[kind]);
}
