/** The processes that call the facilitators, by kind. `startup/open-facilitators.ts` divides the operator's limits by them. */
export type CallerKind = 'web' | 'worker';
export type Callers = Readonly<Record<CallerKind, number>>;

/** The count that is assumed until the processes are counted, and the least of every count. */
export const ONE_OF_EACH: Callers = { web: 1, worker: 1 };

/** A settlement takes several times as long as a verification, and both are equally frequent. */
const WEIGHTS: Callers = { web: 1, worker: 3 };

/** How many of all connections one process of a kind may have; at least one. */
export function shareOfConnections(total: number, kind: CallerKind, callers: Callers): number {
  return Math.max(1, Math.floor(total * part(kind, callers, WEIGHTS)));
}

/** The part of all calls per second that one process of a kind may make. */
export function shareOfCalls(kind: CallerKind, callers: Callers): number {
  return part(kind, callers, { web: 1, worker: 1 });
}

/** A kind without a known process keeps its part, which its first process uses before the other processes count it. */
function part(kind: CallerKind, callers: Callers, weights: Callers): number {
  return weights[kind] / (weights.web + weights.worker) / Math.max(1, callers[kind]);
}
