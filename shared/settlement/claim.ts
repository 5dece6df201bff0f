import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenSymbol } from '../chains/networks/networks.js';
import { batchWrites, LINGER_MS } from '../db/batch-writes.js';
import { Busy, retryLocked } from '../db/busy.js';
import { rootOf } from '../db/connection-shares.js';
import type { Knex } from '../db/knex.js';
import { isRefusal, violatesUnique } from '../db/postgres-errors.js';
import { runStatement, type Statement } from '../db/statement.js';
import { Payable } from '../payables/model.js';
import { PAYABLE_MOVES } from '../payables/states.js';
import { Payment } from '../payments/model.js';
import { type Channel, PAYMENT_MOVES, type PaymentStage } from '../payments/states.js';
import { certainNow, now } from '../process/clock.js';
import { currentTrace } from '../tracing/spans.js';
import { isRefundId, newId } from '../values/ids.js';
import type { EventDeps } from '../webhooks/events.js';
import { recordMove } from './record-move.js';
import { CLAIM_ALONE, CLAIM_BATCH } from './statements/claim.sql.js';

export interface NewPayment {
  payableId: string;
  token: TokenSymbol;
  tokenAmount: string;
  tokenDecimals: number;
  network: string;
  asset: string;
  payer: string | null;
  payTo: string;
  channel: Channel;
  payloadKey: string;
  identifier: string | null;
  requirements: object;
  payload: object;
  validUntil: Date;
  /** The facilitator whose `/verify` the payment passed; null when none was asked. */
  facilitator: string | null;
  arrivedAt: Date;
  /** `confirm`: the chain shows that it has paid. */
  stage: Exclude<PaymentStage, 'watch'>;
}

export type Claim =
  | { kind: 'claimed'; paymentId: string; dueAt: Date }
  | { kind: 'lost' }
  | { kind: 'unclear' };

/** The unique indexes that refuse the second of two concurrent claims with one payload or one payment identifier. */
const TAKEN = ['payments_payload', 'payments_payable_identifier'];

const READ_ATTEMPTS = 4;

const READ_PAUSE_MS = 250;

interface MadeClaim extends NewPayment {
  id: string;
  claimedAt: Date;
  trace: string | undefined;
}

/**
 * A payment that passed every check claims its payable: one statement moves the open payable to `processing` and writes the
 * payment with its first work due. One of many concurrent claims wins. A payload claims once over all payables, and a payment
 * identifier once within its payable; a payload that certainly never reached the facilitator may claim the same payable again.
 * Claims of different sessions share a statement and succeed or fail each by itself.
 */
export async function claimPayable(db: Knex, payment: NewPayment, events: EventDeps): Promise<Claim> {
  // The search for the transfer begins at this time: by a clock that is ahead it would begin after the transfer.
  const made = { ...payment, id: newId('pay_'), claimedAt: certainNow(), trace: currentTrace() };
  return await claim(db, { made, events });
}

interface Claiming {
  made: MadeClaim;
  events: EventDeps;
}

const claim = batchWrites<Claiming, Claim>({
  keyOf: ({ made }) => made.payableId,
  lingerMs: LINGER_MS,
  async writeBatch(db, all) {
    // The claim of a refund writes an event in its transaction, so it is never batched.
    const claims = all.map(({ made }) => made).filter(({ payableId }) => !isRefundId(payableId));
    const ids = await makeClaims(db, CLAIM_BATCH, claims);
    return all.map(({ made }) => (ids.has(made.id) ? claimed(made) : undefined));
  },
  async writeOne(db, { made, events }) {
    try {
      const isMade = await retryLocked(() =>
        db.transaction((trx) =>
          isRefundId(made.payableId) ? claimRefund(trx, made, events) : claimAlone(trx, made),
        ),
      );
      return isMade ? claimed(made) : { kind: 'lost' };
    } catch (error) {
      if (TAKEN.some((index) => violatesUnique(error, index))) return { kind: 'lost' };
      if (isRefusal(error) || error instanceof Busy) throw error;
      return await readLostClaim(db, made);
    }
  },
  onBrokenConnection: (db, { made }) => readLostClaim(db, made),
});

async function claimAlone(db: Knex, made: MadeClaim): Promise<boolean> {
  return (await makeClaims(db, CLAIM_ALONE, [made])).has(made.id);
}

async function claimRefund(trx: Knex.Transaction, made: MadeClaim, events: EventDeps): Promise<boolean> {
  if (!(await claimAlone(trx, made))) return false;
  await recordMove(trx, await Payable.query(trx).findById(made.payableId).throwIfNotFound(), events);
  return true;
}

function claimed({ id, claimedAt }: MadeClaim): Claim {
  return { kind: 'claimed', paymentId: id, dueAt: claimedAt };
}

/** Returns the ids of the payments whose claims were written. */
async function makeClaims(
  db: Knex,
  statement: Statement,
  claims: readonly MadeClaim[],
): Promise<ReadonlySet<string>> {
  if (claims.length === 0) return new Set();
  const list = claims.map((one) => ({
    id: one.id,
    payable_id: one.payableId,
    claimed_at: one.claimedAt,
    token: one.token,
    token_amount: one.tokenAmount,
    token_decimals: one.tokenDecimals,
    network: one.network,
    asset: one.asset,
    payer: one.payer,
    pay_to: one.payTo,
    channel: one.channel,
    payload_key: one.payloadKey,
    identifier: one.identifier,
    requirements: one.requirements,
    payload: one.payload,
    valid_until: one.validUntil,
    trace: one.trace,
    stage: one.stage,
    facilitator: one.facilitator,
    arrived_at: one.arrivedAt,
  }));
  const rows = await runStatement<{ id: string }>(db, statement, [
    JSON.stringify(list),
    PAYABLE_MOVES.claim.from,
  ]);
  return new Set(rows.map(({ id }) => id));
}

/**
 * The connection broke during the commit of the claim. Locking the payable's row waits for a claim that Postgres still
 * carries out, for as long as a statement may take; after that the payment exists or does not. When the rows cannot be read,
 * the claim counts as unclear.
 */
async function readLostClaim(db: Knex, lost: MadeClaim): Promise<Claim> {
  for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt++) {
    try {
      const payment = await rootOf(db).transaction((trx) => findOrRuleOut(trx, lost));
      if (payment === undefined || payment.payloadReleased) throw new ClaimNotMade();
      return { kind: 'claimed', paymentId: lost.id, dueAt: payment.dueAt ?? now() };
    } catch (error) {
      if (error instanceof ClaimNotMade) throw error;
      // A fault that breaks one connection often breaks the other connections of the pool too.
      if (attempt < READ_ATTEMPTS) await sleep(READ_PAUSE_MS);
    }
  }
  return { kind: 'unclear' };
}

/**
 * The network may deliver the delayed claim later. A failed payment with the same id (a tombstone) then refuses it, so
 * the answer "no money moved" stays true.
 */
async function findOrRuleOut(
  trx: Knex.Transaction,
  { id, trace, stage: _, ...made }: MadeClaim,
): Promise<Payment | undefined> {
  const payable = await Payable.query(trx).findById(made.payableId).forUpdate().throwIfNotFound();
  const payment = await Payment.query(trx).findById(id).select('id', 'dueAt', 'payloadReleased');
  if (payment !== undefined) return payment;
  await Payment.query(trx).insert({
    ...made,
    ...(trace !== undefined && { trace }),
    id,
    accountId: payable.accountId,
    livemode: payable.livemode,
    amountCents: payable.amountTotalCents,
    status: PAYMENT_MOVES.fail.to,
    payloadReleased: true,
    failureCode: 'payment_service_unavailable',
    failedAt: now(),
  });
  return undefined;
}

/** The claim was lost on the way to Postgres: no money can move, and the same payload may be sent again. */
export class ClaimNotMade extends Error {
  override readonly name = 'ClaimNotMade';
}
