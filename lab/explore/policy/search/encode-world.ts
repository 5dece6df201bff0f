import {
  CALL_TICKS,
  type Caller,
  type Checker,
  type Finding,
  type Payload,
  type Payment,
  type World,
} from '../model/world.js';
import type { Setting } from '../setting/setting.js';
import { A_DAY_AGO } from '../setting/ticks.js';
import { FAILED, FINDINGS, NONE, SESSIONS, STAGES, STATUSES, WORKERS, ZERO } from './encoding.js';
import {
  ageOfUse,
  authorizationEnd,
  dueTime,
  type Forgetting,
  forgetting,
  notLongerAgo,
  pastCall,
} from './normalize.js';

/**
 * Encodes a world as text. Equivalent worlds have the same text; values that decided payments do not need any more are
 * left out.
 */
export function encodeWorld(world: World, setting: Setting): string {
  length = 0;
  const { session, payloads, payments, wasReorganised } = world;
  const how = forgetting(world, setting);
  put(how.head, bit(wasReorganised), payloads.length, payments.length);
  put(SESSIONS.indexOf(session.status), bit(session.isOver));
  put(session.paymentId ?? NONE, session.latePaymentId ?? NONE);
  for (let index = 0; index < payloads.length; index++) writePayload(world, index, how);
  for (const payment of payments) writePayment(payment, world, how);
  return page.toString('latin1', 0, length);
}

const page = Buffer.alloc(300);
let length = 0;

/** Every step of an exploration is encoded: a list of values would take longer than to name them. */
function put(first: number, second?: number, third?: number, fourth?: number, fifth?: number): void {
  page[length++] = ZERO + first;
  if (second === undefined) return;
  page[length++] = ZERO + second;
  if (third === undefined) return;
  page[length++] = ZERO + third;
  if (fourth === undefined) return;
  page[length++] = ZERO + fourth;
  if (fifth !== undefined) page[length++] = ZERO + fifth;
}

function bit(is: boolean): number {
  return is ? 1 : 0;
}

function writePayload({ payloads, payments, wasReorganised }: World, index: number, how: Forgetting): void {
  const { end, isSent, use, call, callOver, isOutcomeUnclear, isRefused } = payloads[index] as Payload;
  let isOpen = true;
  let isPaid = false;
  for (const { payload, status, isReleased } of payments) {
    if (payload !== index || isReleased) continue;
    isOpen = status === 'processing';
    isPaid = status === 'succeeded';
  }
  put(
    isPaid ? 0 : authorizationEnd(end, how.setting),
    bit(isSent || isPaid),
    bit(isOutcomeUnclear || !isOpen),
    bit(isRefused && isOpen),
  );
  put(callOver === null || !isOpen ? NONE : pastCall(callOver, how));
  put(call?.since ?? NONE, bit(call?.hasSent ?? false));
  put(use === null ? NONE : ageOfUse(use.block, how, wasReorganised), bit(use?.by === 'owner'));
}

function writePayment(payment: Payment, world: World, how: Forgetting): void {
  const { status, stage, due, failed, isSurplus, isReleased, unreadableSince, worker, lost, seen } = payment;
  const isOpen = status === 'processing';
  const isSilent = isOpen && (unreadableSince !== null || seen.silentSince !== null);
  put(payment.payload, STATUSES.indexOf(status), STAGES.indexOf(stage));
  put(due === null ? NONE : dueTime(due, isSilent, how.setting));
  put(FAILED.indexOf(failed), bit(isSurplus), bit(isReleased));
  put(bit(payment.isUsedSeen && (isOpen || failed === 'a week ago')));
  writeWorker(worker);
  if (status !== 'succeeded') writeLost(lost, world.payloads[payment.payload], how);
  if (isOpen) writeOpen(payment, how);
}

/** The values that matter until the payment is decided. */
function writeOpen(payment: Payment, how: Forgetting): void {
  const {
    settleCalls,
    settleUnclear,
    isReported,
    isRefusalRecorded,
    unusedSeen,
    asked,
    ended,
    seen,
    unreadableSince,
  } = payment;
  put(settleCalls, bit(settleUnclear), bit(isReported), bit(isRefusalRecorded));
  putSilence(unreadableSince);
  putPast(unusedSeen, 1, how);
  put(ended !== null || asked === null ? NONE : pastCall(asked + CALL_TICKS, how));
  put(ended === null ? NONE : pastCall(ended, how));
  putSilence(seen.silentSince);
  putPast(seen.unusedSince, 1, how);
  put(bit(seen.isUsed));
}

function writeWorker(worker: Caller | Checker | null): void {
  if (worker === null) {
    put(NONE);
    return;
  }
  put(WORKERS.indexOf(worker.kind), worker.since, bit(worker.settleUnclear), bit(worker.isReported));
  if (worker.kind !== 'checking') {
    put(bit(worker.wasOutcomeUnclear));
    return;
  }
  putSilence(worker.unreadableSince);
  putSilence(worker.silentSince);
  writeFinding(worker.finding);
}

function writeFinding(finding: Finding): void {
  put(FINDINGS.indexOf(finding.kind));
  if (finding.kind === 'paid') put(finding.confirmations);
  if (finding.kind === 'unreadable') put(finding.head ?? NONE);
  if (finding.kind === 'unused') put(finding.head, bit(finding.isExhausted));
}

/** A former worker may still hear that the payment is settled, or call although it must not. */
function writeLost(lost: Caller | null, payload: Payload | undefined, { setting }: Forgetting): void {
  const isCallUnderWay = lost !== null && lost.since > -CALL_TICKS;
  const mayHear = setting.boasts || isCallUnderWay || payload?.use?.by === 'payment';
  if (lost === null || (lost.kind === 'calling' && !mayHear)) put(NONE);
  else put(lost.since, bit(lost.kind === 'stalled'));
}

/** Whether the silence has lasted a day. */
function putSilence(since: number | null): void {
  put(since === null ? NONE : since <= A_DAY_AGO ? A_DAY_AGO : 0);
}

function putPast(tick: number | null, ticks: number, { setting }: Forgetting): void {
  put(notLongerAgo(tick, ticks, setting) ?? NONE);
}
