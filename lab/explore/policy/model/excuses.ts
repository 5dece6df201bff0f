import { OUTCOME_UNKNOWN } from '../../../../shared/payments/states.js';
import type { SettleVerdict } from '../../../../shared/x402/facilitator/settle-verdict.js';
import type { Setting } from '../setting/setting.js';
import { A_DAY_AGO, LONGEST_WAIT } from '../setting/ticks.js';
import { CALL_TICKS, type Finding, type Payload, type Seen } from './world.js';

/** The cause of the policy's decision. */
export type Cause =
  | { by: 'answer'; answer: SettleVerdict; wasOutcomeUnclear: boolean }
  | { by: 'check'; finding: Finding; seen: Seen }
  | { by: 'time' | 'operator' };

/**
 * When a payment may be failed although its money has moved, or can still move. Two excuses are for a failure that says that
 * no money moved: the facilitator's word that it sent nothing, and the other words of a refusal when a later check saw the
 * authorization unused. Two are for a failure that says that the outcome is unknown: a day of silence after the
 * authorization's end, and two checks of an authorization that ends far ahead.
 */
export function excuseOf(payload: Payload, code: string, cause: Cause, setting: Setting): string | undefined {
  if (cause.by === 'answer') return excuseOfAnswer(cause, setting);
  if (cause.by !== 'check') return undefined;
  return code === OUTCOME_UNKNOWN
    ? excuseOfUnknown(payload, cause, setting)
    : excuseOfRefusal(payload, cause.finding);
}

function excuseOfAnswer(
  { answer, wasOutcomeUnclear }: Extract<Cause, { by: 'answer' }>,
  { forgets }: Setting,
): string | undefined {
  if (wasOutcomeUnclear || forgets || answer.kind !== 'rejected' || answer.mayMeanUsed) return undefined;
  return 'refused clearly';
}

function excuseOfRefusal({ isRefused, callOver }: Payload, finding: Finding): string | undefined {
  const isUnused = finding.kind === 'unused' && finding.head > (callOver ?? CALL_TICKS);
  return isRefused && isUnused ? 'refused, and a later check saw it unused' : undefined;
}

const BETWEEN_CHECKS_TICKS = 1;

function excuseOfUnknown(
  { end, callOver }: Payload,
  { finding, seen }: Extract<Cause, { by: 'check' }>,
  { clockAhead }: Setting,
): string | undefined {
  const trueNow = -clockAhead;
  const call = callOver ?? CALL_TICKS;
  const endsSoon = end <= call + LONGEST_WAIT;
  if (trueNow < (endsSoon ? end : call + LONGEST_WAIT)) return undefined;
  if (finding.kind === 'unused') {
    const isTwice = finding.head > call && isSince(seen.unusedSince, -BETWEEN_CHECKS_TICKS);
    return !endsSoon && isTwice
      ? 'said to be unknown: it ends far ahead, and two checks saw it unused'
      : undefined;
  }
  if (finding.kind !== 'unreadable' || seen.isUsed) return undefined;
  const hasGoneOn = finding.head === null || finding.head > (endsSoon ? end : call);
  return hasGoneOn && isSince(seen.silentSince, A_DAY_AGO)
    ? 'said to be unknown: a day of silence after its end'
    : undefined;
}

function isSince(tick: number | null, latest: number): boolean {
  return tick !== null && tick <= latest;
}
