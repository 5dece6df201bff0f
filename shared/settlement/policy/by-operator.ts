import { UNREADABLE_MARGIN_MS } from './limits.js';
import { type CalledPayment, type Decision, saidSettled, type Times } from './standing.js';
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

/** Why its money may have moved, or may still: whoever calls it failed then lets a buyer pay twice. */
export function whyItCanArrive(
  payment: CalledPayment & { usedSeenAt: Date | null },
  { now }: Pick<Times, 'now'>,
): string | undefined {
  if (payment.usedSeenAt !== null) return 'the chain calls its authorization used';
  if (saidSettled(payment)) return 'the facilitator has said that it settled it';
  const { validUntil } = payment;
  // Chains are behind, too.
  if (validUntil.getTime() + UNREADABLE_MARGIN_MS <= now.getTime()) return undefined;
  return `its authorization is good until ${validUntil.toISOString()}, and a minute may pass before its chain is there`;
}
