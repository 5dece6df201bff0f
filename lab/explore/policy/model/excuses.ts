import type { SettleVerdict } from '../../../../shared/x402/settle-verdict.js';
import type { Setting } from '../setting/setting.js';
import { LONGEST_WAIT } from '../setting/ticks.js';
import { CALL_TICKS, type Finding, type Payload, type Seen } from './world.js';

/** The cause of the policy's decision. */
export type Cause =
  | { by: 'answer'; answer: SettleVerdict; wasOutcomeUnclear: boolean; look: Finding | undefined }
  | { by: 'look'; finding: Finding; seen: Seen }
  | { by: 'time' | 'operator' };

/**
 * When a payment may be failed although its money has moved, or can still move. There are three excuses: a clear
 * refusal by the facilitator while no earlier outcome was unclear, a silent chain long after the authorization's end,
 * and two checks of an authorization that ends far ahead.
 */
export function excuseOf(payload: Payload, cause: Cause, setting: Setting): string | undefined {
  if (cause.by === 'answer') return excuseOfAnswer(cause);
  return cause.by === 'look' ? excuseOfLook(payload, cause, setting) : undefined;
}

function excuseOfAnswer({
  answer,
  wasOutcomeUnclear,
  look,
}: Extract<Cause, { by: 'answer' }>): string | undefined {
  if (wasOutcomeUnclear || answer.kind !== 'rejected') return undefined;
  if (!answer.ifUsedToo) return 'refused clearly';
  const isUnseen = look?.kind === 'unused' || look?.kind === 'unreadable';
  return isUnseen ? 'refused, and no use of it could be seen' : undefined;
}

const UNREADABLE_TICKS = 2;
const BETWEEN_LOOKS_TICKS = 1;

function excuseOfLook(
  { end, callOver }: Payload,
  { finding, seen }: Extract<Cause, { by: 'look' }>,
  { clockAhead }: Setting,
): string | undefined {
  const trueNow = -clockAhead;
  const call = callOver ?? CALL_TICKS;
  const endsSoon = end <= call + LONGEST_WAIT;
  const isLate = trueNow >= (endsSoon ? end + UNREADABLE_TICKS : call + LONGEST_WAIT);
  if (!isLate) return undefined;
  if (finding.kind === 'unused') {
    const isTwice = finding.head > call && isSince(seen.unusedSince, BETWEEN_LOOKS_TICKS);
    return !endsSoon && isTwice ? 'it ends far ahead, and two looks saw it unused' : undefined;
  }
  if (finding.kind !== 'unreadable' || seen.isUsed) return undefined;
  const hasGoneOn = finding.head === null || finding.head > (endsSoon ? end : call);
  return hasGoneOn && isSince(seen.silentSince, UNREADABLE_TICKS)
    ? 'a silent chain long after its end'
    : undefined;
}

function isSince(tick: number | null, ticks: number): boolean {
  return tick !== null && tick <= -ticks;
}
