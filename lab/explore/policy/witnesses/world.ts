import type { PayableStatus } from '../../../../shared/payables/states.js';
import type { PaymentStage, PaymentStatus } from '../../../../shared/payments/states.js';

/**
 * The state of the wide model: a session and its refund, every payment of both, and what Postgres' standby has. It has no
 * ticks: an authorization is good or over, and a check comes after the end of the last call. The model of one payment
 * shows that times are kept; this one shows what several payments and failing witnesses do to each other.
 */
export interface World {
  readonly session: Payable;
  readonly refund: Payable | null;
  readonly attempts: readonly Attempt[];
  readonly standby: 'follows' | 'stopped' | 'promoted';
  /** How many false statements witnesses whose word counts may still make. */
  readonly lies: number;
}

export type PayableKind = 'session' | 'refund';

/** A session, or a refund, which is paid in the same way. */
export interface Payable {
  readonly status: PayableStatus;
  /** `expires_at` has passed. */
  readonly isOver: boolean;
  /** How many payloads may still be signed for it. */
  readonly unsigned: number;
  /** The payable's status on the standby that has stopped to follow. */
  readonly kept: PayableStatus | null;
}

/** A signed payload, the payment's row in Postgres, and the row on the standby. */
export interface Attempt {
  readonly of: PayableKind;
  readonly fact: Fact;
  readonly row: Row | null;
  readonly kept: Row | null;
}

/** The truth about a payload, which no witness needs to tell. */
export interface Fact {
  /** A call that no process waits for may still send a transaction. */
  readonly isCalled: boolean;
  /** A transaction may still get into a block. */
  readonly isSent: boolean;
  readonly use: 'payment' | 'owner' | null;
  /** The authorization has ended, on the chain too. */
  readonly isOver: boolean;
  /** A witness whose word counts has lied about it. */
  readonly isLiedAbout: boolean;
}

/** The columns of a payment. */
export interface Row {
  readonly status: PaymentStatus;
  readonly stage: PaymentStage | null;
  /** `holds`: the payable's `payment_id`. `late`: its `late_payment_id`. */
  readonly role: 'holds' | 'late' | null;
  /** The number of calls; no rule counts further than three. */
  readonly calls: number;
  readonly hasEnded: boolean;
  readonly isUnclear: boolean;
  readonly isReported: boolean;
  readonly isRefused: boolean;
  readonly isUsedSeen: boolean;
  readonly isReleased: boolean;
  readonly isSurplus: boolean;
}

export const FRESH: Fact = {
  isCalled: false,
  isSent: false,
  use: null,
  isOver: false,
  isLiedAbout: false,
};

export const CLAIMED: Row = {
  status: 'processing',
  stage: 'settle',
  role: 'holds',
  calls: 0,
  hasEnded: false,
  isUnclear: false,
  isReported: false,
  isRefused: false,
  isUsedSeen: false,
  isReleased: false,
  isSurplus: false,
};

/** The money has moved, or can still move. */
export function canMove({ use, isOver, isSent, isCalled }: Fact): boolean {
  return use === null ? !isOver && (isSent || isCalled) : use === 'payment';
}

export function payableOf({ session, refund }: World, of: PayableKind): Payable {
  const payable = of === 'session' ? session : refund;
  if (payable === null) throw new Error('there is no refund');
  return payable;
}

export function withPayable(world: World, of: PayableKind, changes: Partial<Payable>): World {
  return { ...world, [of]: { ...payableOf(world, of), ...changes } };
}

export function withFact(world: World, index: number, fact: Fact): World {
  const attempts = world.attempts.map((one, at) => (at === index ? { ...one, fact } : one));
  return { ...world, attempts };
}

export function withRow(world: World, index: number, row: Row): World {
  const attempts = world.attempts.map((one, at) => (at === index ? { ...one, row } : one));
  return { ...world, attempts };
}

export function withColumns(world: World, index: number, changes: Partial<Row>): World {
  const row = world.attempts[index]?.row;
  return row == null ? world : withRow(world, index, { ...row, ...changes });
}

/** The attempt of this payable with that role. */
export function indexOfRole({ attempts }: World, of: PayableKind, role: Row['role']): number | undefined {
  const index = attempts.findIndex((one) => one.of === of && one.row?.role === role);
  return index < 0 ? undefined : index;
}
