import {
  CALL_TICKS,
  type Caller,
  type Checker,
  type Finding,
  NOTHING_SEEN,
  type Payload,
  type Payment,
  type Session,
  type World,
} from '../model/world.js';
import { FAILED, FINDINGS, NONE, SESSIONS, STAGES, STATUSES, WORKERS, ZERO } from './encoding.js';

/** Decodes a world, value by value, as encode-world.ts encoded it. */
export function decodeWorld(written: string): World {
  text = written;
  at = 0;
  const head = next();
  const wasReorganised = is();
  const counts = { payloads: next(), payments: next() };
  const session: Session = {
    status: word(SESSIONS),
    isOver: is(),
    paymentId: maybe(),
    latePaymentId: maybe(),
  };
  const payloads = Array.from({ length: counts.payloads }, () => readPayload(head));
  const payments = Array.from({ length: counts.payments }, readPayment);
  return { head, wasReorganised, session, payloads, payments };
}

let text = '';
let at = 0;

function next(): number {
  return text.charCodeAt(at++) - ZERO;
}

function maybe(): number | null {
  const value = next();
  return value === NONE ? null : value;
}

function is(): boolean {
  return next() === 1;
}

function word<T>(words: readonly T[]): T {
  return words[next()] as T;
}

function readPayload(head: number): Payload {
  const end = next();
  const isSent = is();
  const isOutcomeUnclear = is();
  const isRefused = is();
  const callOver = maybe();
  const since = maybe();
  const hasSent = is();
  const age = maybe();
  const by = is() ? 'owner' : 'payment';
  const call = since === null ? null : { since, hasSent };
  return {
    end,
    isSent,
    use: age === null ? null : { by, block: head - age },
    call,
    callOver,
    isOutcomeUnclear,
    isRefused,
  };
}

function readPayment(): Payment {
  const payload = next();
  const status = word(STATUSES);
  const isOpen = status === 'processing';
  const stage = word(STAGES);
  const due = maybe();
  const failed = word(FAILED);
  const isSurplus = is();
  const isReleased = is();
  const isUsedSeen = is();
  const worker = readWorker();
  const lost = status === 'succeeded' ? null : readLost();
  const settleCalls = isOpen ? next() : 0;
  const settleUnclear = isOpen && is();
  const isReported = isOpen && is();
  const isRefusalRecorded = isOpen && is();
  const unreadableSince = isOpen ? maybe() : null;
  const unusedSeen = isOpen ? maybe() : null;
  const over = isOpen ? maybe() : null;
  const ended = isOpen ? maybe() : null;
  const seen = isOpen ? { silentSince: maybe(), unusedSince: maybe(), isUsed: is() } : NOTHING_SEEN;
  return {
    payload,
    status,
    stage,
    due,
    failed,
    isSurplus,
    isReleased,
    unreadableSince,
    worker,
    lost,
    settleCalls,
    settleUnclear,
    isReported,
    isRefusalRecorded,
    isUsedSeen,
    unusedSeen,
    asked: over === null ? null : over - CALL_TICKS,
    ended,
    seen,
  };
}

function readWorker(): Caller | Checker | null {
  const number = maybe();
  if (number === null) return null;
  const kind = WORKERS[number] ?? 'calling';
  const since = next();
  const settleUnclear = is();
  const isReported = is();
  if (kind !== 'checking') return { kind, since, settleUnclear, isReported, wasOutcomeUnclear: is() };
  const unreadableSince = maybe();
  const silentSince = maybe();
  const finding = readFinding();
  return { kind, since, settleUnclear, isReported, unreadableSince, silentSince, finding };
}

function readFinding(): Finding {
  const kind = word(FINDINGS);
  switch (kind) {
    case 'paid':
      return { kind, confirmations: next() };
    case 'unreadable':
      return { kind, head: maybe() };
    case 'unused':
      return { kind, head: next(), isExhausted: is() };
    default:
      return { kind };
  }
}

function readLost(): Caller | null {
  const since = maybe();
  if (since === null) return null;
  const kind = is() ? 'stalled' : 'calling';
  return { kind, since, settleUnclear: false, isReported: false, wasOutcomeUnclear: false };
}
