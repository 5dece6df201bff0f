import type { SettleVerdict } from '../../../../shared/x402/facilitator/settle-verdict.js';
import type { Setting } from '../setting/setting.js';
import { ANOTHER_PAYER, TRANSACTION } from './policy-inputs.js';
import { CALL_TICKS, type Payload, type World } from './world.js';

export interface Answer {
  readonly answer: SettleVerdict;
  readonly isHonest: boolean;
  /** Another facilitator, that may be asked in place of this one. */
  readonly another?: string;
}

/** Answers are made once: most steps of an exploration are answers. */
export const REFUSED = { kind: 'rejected', code: 'refused', reason: 'refused', mayMeanUsed: false } as const;
export const DOUBTFUL_REFUSAL = { ...REFUSED, mayMeanUsed: true } as const;
export const ENDED = { kind: 'unknown', why: 'unclear', transaction: undefined, mayStillRun: false } as const;
export const SETTLED = { kind: 'settled', transaction: TRANSACTION, payer: undefined } as const;
const UNCLEAR: readonly Answer[] = [undefined, TRANSACTION].flatMap((transaction) =>
  [true, false].map((mayStillRun) => ({ answer: { ...ENDED, transaction, mayStillRun }, isHonest: false })),
);
const STRANGERS: Answer = { answer: { ...SETTLED, payer: ANOTHER_PAYER }, isHonest: false };
const UNPROCESSED: readonly Answer[] = [
  { answer: { kind: 'not_processed', why: 'turned away' }, isHonest: true },
  {
    answer: { kind: 'not_processed', why: 'not reached', isUnsent: true },
    isHonest: true,
    another: 'another',
  },
];

/**
 * The possible answers to a call. Of the clear ones only a refusal may be false, unless the setting has a boasting
 * facilitator.
 */
export function answersTo({ call, use }: Payload, { boasts, answers }: Setting): Answer[] {
  const hasPaid = use?.by === 'payment';
  const didNothing = call !== null && !call.hasSent;
  const isHonest = didNothing && !hasPaid;
  const few: Answer[] = [
    { answer: REFUSED, isHonest },
    { answer: ENDED, isHonest: false },
  ];
  if (hasPaid || boasts) few.push({ answer: SETTLED, isHonest: hasPaid });
  if (didNothing) few.push(...UNPROCESSED);
  if (answers === 'few') return few;
  return [...few, { answer: DOUBTFUL_REFUSAL, isHonest }, STRANGERS, ...UNCLEAR];
}

/** A call begins: it has no effect yet, sends a transaction, or moves the money at once. */
export function effectsOf(payload: Payload, { head }: World): Payload[] {
  const called: Payload = {
    ...payload,
    call: { since: 0, hasSent: false },
    callOver: CALL_TICKS,
    isOutcomeUnclear: true,
    isRefused: false,
  };
  if (payload.use !== null) return [called];
  const sent: Payload = { ...called, isSent: true, call: { since: 0, hasSent: true } };
  if (head >= payload.end) return [called, sent];
  return [called, sent, { ...sent, use: { by: 'payment', block: head } }];
}

/** After the answer the call has ended, unless the answer says that it may continue. */
export function afterAnswer(payload: Payload, answer: SettleVerdict, wasOutcomeUnclear: boolean): Payload {
  if (answer.kind === 'unknown' && answer.mayStillRun) return payload;
  const isRefused = answer.kind === 'rejected' && !wasOutcomeUnclear;
  if (payload.call === null) return { ...payload, isRefused };
  const isOutcomeUnclear = answer.kind === 'not_processed' ? wasOutcomeUnclear : true;
  return { ...payload, call: null, callOver: 0, isOutcomeUnclear, isRefused };
}
