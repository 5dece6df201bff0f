import { SESSIONS, STAGES, STATUSES } from '../search/encoding.js';
import { type Attempt, canMove, type Fact, type Payable, type Row, type World } from './world.js';

const STANDBYS: readonly World['standby'][] = ['follows', 'stopped', 'promoted'];
const USES: readonly Fact['use'][] = [null, 'payment', 'owner'];
const ROLES: readonly Row['role'][] = [null, 'holds', 'late'];
/** A character per value, from here on. */
const ZERO = 48;
const NOTHING = '-';
/** The bits of the flags that share a character. Writer and reader name them, so their order is written down only here. */
const FACT_FLAGS = { isLiedAbout: 1, isOver: 2, isSent: 4, isCalled: 8, isOfRefund: 16 } as const;
const CALL_FLAGS = { isRefused: 1, isReported: 2, isUnclear: 4, hasEnded: 8 } as const;
const ROW_FLAGS = { isSurplus: 1, isReleased: 2, isUsedSeen: 4 } as const;

/**
 * Text of a world without its parts that cannot matter any more: payloads that can never pay are left out, rows keep only
 * the columns that are still read, and payments have no order.
 */
export function encode(world: World): string {
  const { session, refund, standby, lies } = world;
  const attempts = world.attempts
    .filter((one) => !isDead(one, world))
    .map((one) => attemptText(shortened(one, world)))
    .sort();
  const payables = [session, refund].map((one) => payableText(one, standby === 'stopped'));
  return [chars(STANDBYS.indexOf(standby), lies), ...payables, ...attempts].join(' ');
}

function chars(...values: readonly number[]): string {
  let text = '';
  for (const value of values) text += String.fromCharCode(ZERO + value);
  return text;
}

function flag(is: boolean, bit: number): number {
  return is ? bit : 0;
}

function has(set: number, bit: number): boolean {
  return (set & bit) !== 0;
}

function payableText(payable: Payable | null, isKept: boolean): string {
  if (payable === null) return NOTHING;
  const { status, isOver, unsigned, kept } = payable;
  const old = isKept && kept !== null ? SESSIONS.indexOf(kept) : SESSIONS.length;
  return chars(SESSIONS.indexOf(status), flag(isOver, 1), unsigned, old);
}

function attemptText({ of, fact, row, kept }: Attempt): string {
  const { isCalled, isSent, use, isOver, isLiedAbout } = fact;
  const factFlags =
    flag(of === 'refund', FACT_FLAGS.isOfRefund) |
    flag(isCalled, FACT_FLAGS.isCalled) |
    flag(isSent, FACT_FLAGS.isSent) |
    flag(isOver, FACT_FLAGS.isOver) |
    flag(isLiedAbout, FACT_FLAGS.isLiedAbout);
  return `${chars(factFlags, USES.indexOf(use))},${rowText(row)},${rowText(kept)}`;
}

function rowText(row: Row | null): string {
  if (row === null) return NOTHING;
  const { status, stage, role, calls, hasEnded, isUnclear, isReported, isRefused } = row;
  const callFlags =
    flag(hasEnded, CALL_FLAGS.hasEnded) |
    flag(isUnclear, CALL_FLAGS.isUnclear) |
    flag(isReported, CALL_FLAGS.isReported) |
    flag(isRefused, CALL_FLAGS.isRefused);
  const rowFlags =
    flag(row.isUsedSeen, ROW_FLAGS.isUsedSeen) |
    flag(row.isReleased, ROW_FLAGS.isReleased) |
    flag(row.isSurplus, ROW_FLAGS.isSurplus);
  return chars(
    STATUSES.indexOf(status),
    STAGES.indexOf(stage),
    ROLES.indexOf(role),
    calls,
    callFlags,
    rowFlags,
  );
}

export function decode(text: string): World {
  const [head = '', session = '', refund = '', ...attempts] = text.split(' ');
  const [standby = 0, lies = 0] = values(head);
  const first = readPayable(session);
  if (first === null) throw new Error('there is no session');
  return {
    session: first,
    refund: readPayable(refund),
    attempts: attempts.map(readAttempt),
    standby: STANDBYS[standby] ?? 'follows',
    lies,
  };
}

function values(text: string): number[] {
  return Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) - ZERO);
}

function readPayable(text: string): Payable | null {
  if (text === NOTHING) return null;
  const [status = 0, isOver = 0, unsigned = 0, kept = SESSIONS.length] = values(text);
  return {
    status: SESSIONS[status] ?? 'open',
    isOver: isOver === 1,
    unsigned,
    kept: SESSIONS[kept] ?? null,
  };
}

function readAttempt(text: string): Attempt {
  const [facts = '', row = NOTHING, kept = NOTHING] = text.split(',');
  const [factFlags = 0, use = 0] = values(facts);
  return {
    of: has(factFlags, FACT_FLAGS.isOfRefund) ? 'refund' : 'session',
    fact: {
      isCalled: has(factFlags, FACT_FLAGS.isCalled),
      isSent: has(factFlags, FACT_FLAGS.isSent),
      use: USES[use] ?? null,
      isOver: has(factFlags, FACT_FLAGS.isOver),
      isLiedAbout: has(factFlags, FACT_FLAGS.isLiedAbout),
    },
    row: readRow(row),
    kept: readRow(kept),
  };
}

function readRow(text: string): Row | null {
  if (text === NOTHING) return null;
  const [status = 0, stage = 0, role = 0, calls = 0, callFlags = 0, rowFlags = 0] = values(text);
  return {
    status: STATUSES[status] ?? 'processing',
    stage: STAGES[stage] ?? null,
    role: ROLES[role] ?? null,
    calls,
    hasEnded: has(callFlags, CALL_FLAGS.hasEnded),
    isUnclear: has(callFlags, CALL_FLAGS.isUnclear),
    isReported: has(callFlags, CALL_FLAGS.isReported),
    isRefused: has(callFlags, CALL_FLAGS.isRefused),
    isUsedSeen: has(rowFlags, ROW_FLAGS.isUsedSeen),
    isReleased: has(rowFlags, ROW_FLAGS.isReleased),
    isSurplus: has(rowFlags, ROW_FLAGS.isSurplus),
  };
}

/** An attempt without consequences: it cannot pay, cannot be sent again, and no row waits for it. */
function isDead({ fact, row, kept }: Attempt, { standby }: World): boolean {
  const isKept = standby === 'stopped' && kept !== null && isOpen(kept);
  return !canMove(fact) && (fact.isOver || fact.use !== null) && !isOpen(row) && !isKept;
}

function isOpen(row: Row | null): boolean {
  return row !== null && (row.status !== 'failed' || row.stage !== null);
}

function shortened({ of, fact, row, kept }: Attempt, { standby }: World): Attempt {
  return {
    of,
    fact: shortFact(fact, standby === 'stopped' ? null : row),
    row: shortRow(row),
    kept: standby === 'stopped' ? shortRow(kept) : null,
  };
}

function shortFact(fact: Fact, row: Row | null): Fact {
  const { use, isSent, isCalled, isOver, isLiedAbout } = fact;
  const isPaid = use === 'payment';
  const isDone = isPaid && row?.status === 'succeeded';
  const isInFlight = use === null && !isOver;
  return {
    isCalled: isInFlight && isCalled,
    isSent: isInFlight && isSent,
    use,
    isOver: isOver || isDone,
    isLiedAbout: isLiedAbout && !isDone,
  };
}

/** A decided payment's row keeps its place at the session, and whether it is watched: the rest is not read. */
function shortRow(row: Row | null): Row | null {
  if (row === null || row.status === 'processing') return row;
  const { status, stage, role, isReleased, isSurplus } = row;
  return {
    status,
    stage,
    role,
    calls: 0,
    hasEnded: false,
    isUnclear: false,
    isReported: false,
    isRefused: false,
    isUsedSeen: false,
    isReleased: status === 'failed' && isReleased,
    isSurplus,
  };
}
