import type { ChainFinding } from '../../chains/finding.js';
import type { SettleVerdict } from '../../x402/settle-verdict.js';
import { inWords } from './finding-in-words.js';
import {
  AFTER_TIMEOUT_MS,
  FIRST_LOOK_MS,
  MAX_UNPROCESSED_CALLS,
  PAUSED_PROCESS_MARGIN_MS,
  RETRY_MS,
  SETTLE_MARGIN_MS,
} from './limits.js';
import {
  type CalledPayment,
  type Decision,
  isInDoubt,
  type Learnt,
  type Rules,
  saidSettled,
  type Times,
} from './standing.js';
import { nextWatch } from './watch.js';

/** Whether a payment that was just taken, its call counted already, is sent to `/settle` at all. */
export function beforeCall(payment: CalledPayment, { now }: Times): Decision | undefined {
  if (payment.settleCalls <= 1 || !isAboutToEnd(payment, now)) return undefined;
  const said = 'not asked again: the authorization is about to end';
  if (!isInDoubt(payment)) return { ...GIVEN_UP, said: { source: 'service', said } };
  return lookAt(now, said, { settleEndedAt: now });
}

/** A process that stood still since it took the payment may have lost it to another by now: then nothing is sent. */
export function mayStillCall({ dueAt }: CalledPayment, { settleTimeoutMs }: Rules, { now }: Times): boolean {
  return dueAt !== null && now.getTime() + settleTimeoutMs + PAUSED_PROCESS_MARGIN_MS <= dueAt.getTime();
}

export interface Call {
  answer: SettleVerdict;
  startedAt: Date;
  endedAt: Date;
  /** The look that was asked for before a refusal is told. */
  look?: ChainFinding;
}

/** What the facilitator's answer decides. */
export function afterCall(
  payment: CalledPayment,
  { answer, startedAt, endedAt, look }: Call,
  rules: Rules,
  { now }: Times,
): Decision | { kind: 'look_first' } {
  const verdict = whatItProves(payment, answer);
  switch (verdict.kind) {
    case 'settled': {
      const { transaction, payer } = verdict;
      const said = `settled in ${transaction}`;
      if (rules.confirmations > 0) {
        const learnt = { settleEndedAt: endedAt, reportedTransaction: transaction, settleUnclear: false };
        return lookAt(now, said, learnt);
      }
      const proof = { transaction, payer, proofIndex: undefined };
      return { kind: 'succeed', proof, said: { source: 'facilitator', said } };
    }
    case 'rejected': {
      if (verdict.ifUsedToo && look === undefined) return { kind: 'look_first' };
      const said = look === undefined ? verdict.reason : `${verdict.reason}; the chain: ${inWords(look)}`;
      // What cannot be read in that time is no reason to let the buyer wait.
      if (look !== undefined && look.kind !== 'unused' && look.kind !== 'unreadable')
        return lookAt(now, said, { settleEndedAt: endedAt, settleUnclear: true });
      const watchAt = nextWatch(now, payment.validUntil, now);
      return {
        kind: 'fail',
        code: verdict.code,
        released: false,
        watchAt,
        said: { source: 'facilitator', said },
      };
    }
    case 'not_processed':
      return retryOrGiveUp(payment, verdict.why, now);
    case 'postponed':
      return later(payment, verdict, now);
    case 'unknown': {
      const { transaction, mayGoOn } = verdict;
      const at = new Date(now.getTime() + FIRST_LOOK_MS);
      return lookAt(at, `unclear: ${verdict.why}`, {
        settleEndedAt: mayGoOn ? surelyOver(startedAt, rules) : endedAt,
        settleUnclear: !saidSettled(payment),
        ...(transaction !== undefined && { reportedTransaction: transaction }),
      });
    }
  }
}

/** When a call that was given up or cut off surely no longer goes on at the facilitator. */
export function surelyOver(startedAt: Date, { settleTimeoutMs }: Rules): Date {
  return new Date(startedAt.getTime() + settleTimeoutMs + AFTER_TIMEOUT_MS);
}

/** A failure after an unclear attempt of the same payment proves nothing: the first may be what made it fail. */
export function whatItProves(payment: CalledPayment, answer: SettleVerdict): SettleVerdict {
  const isFailure = answer.kind === 'rejected' || answer.kind === 'not_processed';
  if (!isInDoubt(payment) || !isFailure) return answer;
  const why = `${answer.kind === 'rejected' ? answer.reason : answer.why} after an unclear attempt`;
  return { kind: 'unknown', why, transaction: undefined, mayGoOn: false };
}

/** Too late to send the payload to `/settle` once more. */
export function isAboutToEnd({ validUntil }: CalledPayment, at: Date): boolean {
  return at.getTime() > validUntil.getTime() - SETTLE_MARGIN_MS;
}

/** The facilitator surely did nothing: ask again soon, or let the buyer try later with the same signature. */
function retryOrGiveUp(payment: CalledPayment, why: string, now: Date): Decision {
  const said = { source: 'facilitator', said: `not processed: ${why}` } as const;
  const isTooLate = isAboutToEnd(payment, new Date(now.getTime() + RETRY_MS));
  if (payment.settleCalls >= MAX_UNPROCESSED_CALLS || isTooLate) return { ...GIVEN_UP, said };
  const at = new Date(now.getTime() + RETRY_MS * payment.settleCalls);
  return { kind: 'settle_again', at, learnt: { settleEndedAt: now }, said };
}

/** Nothing was sent, which says nothing of the payment: it is sent later, for the last time when its authorization is about to end. */
function later(payment: CalledPayment, { why, forMs }: Postponed, now: Date): Decision {
  const said = { source: 'service', said: `not sent yet: ${why}` } as const;
  const last = payment.validUntil.getTime() - SETTLE_MARGIN_MS;
  if (now.getTime() < last) {
    const at = new Date(Math.min(now.getTime() + forMs, last));
    return { kind: 'settle_again', at, learnt: { settleEndedAt: now }, notSent: true, said };
  }
  return isInDoubt(payment)
    ? { ...lookAt(now, said.said, { settleEndedAt: now }), said }
    : { ...GIVEN_UP, said };
}

type Postponed = Extract<SettleVerdict, { kind: 'postponed' }>;

const GIVEN_UP = {
  kind: 'fail',
  code: 'payment_service_unavailable',
  released: true,
  watchAt: undefined,
} as const;

function lookAt(at: Date, said: string, learnt: Learnt): Decision {
  return { kind: 'look_again', at, learnt, said: { source: 'facilitator', said } };
}
