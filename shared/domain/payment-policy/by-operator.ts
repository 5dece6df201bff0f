import type { CalledPayment, Decision, Times } from './standing.js';
import { nextWatch } from './watch.js';

/** A person's decision on a payment whose outcome is open; it takes the moves and events that each outcome takes. */
export type Resolution = { kind: 'paid'; transaction: string } | { kind: 'failed'; reason: string };

export function byOperator(
  { validUntil }: Pick<CalledPayment, 'validUntil'>,
  resolution: Resolution,
  { now }: Pick<Times, 'now'>,
): Decision {
  if (resolution.kind === 'paid') {
    const { transaction } = resolution;
    const proof = { transaction, payer: undefined, proofIndex: undefined };
    return { kind: 'succeed', proof, said: { source: 'operator', said: `paid in ${transaction}` } };
  }
  const { reason } = resolution;
  const watchAt = nextWatch(now, validUntil, now);
  const said = { source: 'operator', said: `failed: ${reason}` } as const;
  return { kind: 'fail', code: reason, released: false, watchAt, said };
}
