import { raw } from 'objection';
import { confirmationsOf } from '../chains/networks/networks.js';
import type { Config } from '../config/config.js';
import { batchWrites, LINGER_MS } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import type { Row } from '../db/model-columns.js';
import { runStatement, type Statement } from '../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../limits/bounds.js';
import { Payment } from '../payments/model.js';
import type { PaymentStage } from '../payments/states.js';
import { laterNowMs, now, nowMs } from '../process/clock.js';
import type { SpanStart } from '../tracing/spans.js';
import { type PaymentQuestions, readStoredPayment } from '../x402/stored-payment.js';
import { checkDeadline } from './check-deadline.js';
import type { Settings } from './policy/payment-state.js';
import { surelyOver } from './policy/settle-times.js';
import {
  BEGIN_ALONE,
  BEGIN_BATCH,
  BEGIN_CHECK,
  DUE_OF_STAGE,
  isDue,
  takenColumns,
} from './statements/take-work.sql.js';

/**
 * Takes a payment's due work. Taking is one UPDATE that raises `attempt` and moves `due_at` past the longest that the
 * work can last; an outcome is written only while `attempt` is still the taker's. So a stalled copy of a job changes
 * nothing, and the row of a killed worker becomes due again. `lost_takes` counts takers that wrote no outcome: the crashes, and
 * the present taker while there is one.
 */

/** Upper bound on the duration of a chain check and the write of its outcome. */
const CHECK_LEASE_MS = 60_000;

/** A chain check that starts later than this after its due time does not extend the silence that earlier checks met. */
const LATE_CHECK_MS = 20_000;

type PaymentJobName = 'settle-payment' | 'confirm-payment';

/** A payment that a job holds until its `dueAt`, with the questions that its handler asks. */
export interface TakenPayment extends PaymentQuestions {
  payment: Payment;
  job: PaymentJobName;
  settings: Settings;
  /** When a check of its chain should have succeeded; undefined when nothing waits for it. */
  checkDeadline: Date | undefined;
  /** The job's part of the trace that the payment's request began. */
  span: SpanStart;
}

interface TakeDeps {
  db: Knex;
  config: Pick<Config, 'confirmations' | 'settleTimeoutMs'>;
}

export async function takeToSettle({ db, config }: TakeDeps, id: string): Promise<TakenPayment | undefined> {
  const payment = await beginSettlement(db, { id, settleTimeoutMs: config.settleTimeoutMs });
  return payment && (await takenBy('settle-payment', payment, config));
}

export async function takeToCheck({ db, config }: TakeDeps, id: string): Promise<TakenPayment | undefined> {
  const payment = await beginCheck(db, { id, settleTimeoutMs: config.settleTimeoutMs });
  return payment && (await takenBy('confirm-payment', payment, config));
}

async function takenBy(
  job: PaymentJobName,
  payment: Payment,
  config: TakeDeps['config'],
): Promise<TakenPayment> {
  const { id, payableId, network, trace } = payment;
  const attributes = {
    'checkout.payment': id,
    'checkout.session': payableId,
    'checkout.network': network,
  };
  const settings = settingsFor(config, network);
  return {
    payment,
    job,
    settings,
    checkDeadline: checkDeadline(payment, settings),
    span: { name: job, kind: 'consumer', parent: trace ?? null, attributes },
    ...(await readStoredPayment(payment)),
  };
}

function settingsFor({ confirmations, settleTimeoutMs }: TakeDeps['config'], caip2: string): Settings {
  return { confirmations: confirmationsOf(confirmations, caip2), settleTimeoutMs };
}

interface Beginning {
  id: string;
  settleTimeoutMs: number;
}

/**
 * Marks durably, before the call of `/settle`, that money may be moving: the row's next stage is `confirm`, due when the
 * call has certainly ended. A worker that crashes in between leaves the row in that stage.
 */
export const beginSettlement = batchWrites<Beginning, Payment | undefined>({
  keyOf: ({ id }) => id,
  lingerMs: LINGER_MS,
  async writeBatch(db, beginnings) {
    const begun = await beginAll(db, BEGIN_BATCH, beginnings);
    return beginnings.map(({ id }) => begun.get(id));
  },
  async writeOne(db, beginning) {
    return (await beginAll(db, BEGIN_ALONE, [beginning])).get(beginning.id);
  },
});

async function beginAll(
  db: Knex,
  statement: Statement,
  beginnings: readonly Beginning[],
): Promise<ReadonlyMap<string, Payment>> {
  const at = now();
  const list = beginnings.map(({ id, settleTimeoutMs }) => ({
    id,
    ends_at: surelyOver(at, { settleTimeoutMs }),
  }));
  const askedAt = new Date(laterNowMs());
  const rows = await runStatement<Row>(db, statement, [JSON.stringify(list), at, askedAt]);
  return new Map(rows.map((row) => takenColumns.read(row)).map((one) => [one.id, one]));
}

/**
 * The silence of a chain counts only while every check meets it. So taking the row clears `unreadable_since`, and the taker
 * writes it back with the outcome. After a check whose outcome was lost, or that started late, the silence starts again.
 */
export async function beginCheck(db: Knex, { id, settleTimeoutMs }: Beginning): Promise<Payment | undefined> {
  const at = nowMs();
  const latest = new Date(laterNowMs());
  const times = [at, at + CHECK_LEASE_MS, at - LATE_CHECK_MS].map((ms) => new Date(ms));
  const callEnd = surelyOver(latest, { settleTimeoutMs });
  const [row] = await runStatement<Row>(db, BEGIN_CHECK, [id, ...times, latest, callEnd]);
  if (row === undefined) return undefined;
  return Object.assign(takenColumns.read(row), { unreadableSince: row.silent_since });
}

export interface NextWork {
  stage: PaymentStage;
  dueAt: Date;
}

export interface DuePayment extends NextWork {
  id: string;
  attempt: number;
  /** How many workers have crashed on the payment since an outcome was last written. */
  crashes: number;
}

/** The rows of each stage with the earliest due times, up to `limit` per stage, so a backlog of one stage hides no other. */
export async function listDuePayments(
  db: Knex,
  stages: readonly PaymentStage[],
  limit: number,
): Promise<DuePayment[]> {
  const due: DuePayment[] = [];
  for (const stage of stages) {
    due.push(...(await runStatement<DuePayment>(db, DUE_OF_STAGE, [stage, now(), limit])));
  }
  return due;
}

/** Payments on which so many takers have crashed that each is taken alone; those with the fewest crashes come first. */
export async function listDueQuarantined(
  db: Knex,
  stages: readonly PaymentStage[],
  limit: number,
): Promise<DuePayment[]> {
  const at = now();
  const rows = await Payment.query(db)
    .select('id', 'stage', 'attempt', 'dueAt', 'lostTakes')
    .whereIn('stage', stages)
    .where(raw(isDue('?'), [at, at]))
    .where('lostTakes', '>=', QUARANTINE_AFTER_CRASHES)
    .orderBy(['lostTakes', 'dueAt'])
    .limit(limit);
  return rows.flatMap((row) => duePayment(row, at) ?? []);
}

function duePayment(
  { id, stage, attempt, lostTakes: crashes, dueAt }: Payment,
  at: Date,
): DuePayment | undefined {
  if (stage === null || dueAt === null) return undefined;
  // The due time of the job is now when the row's lies too far ahead.
  return { id, stage, attempt, crashes, dueAt: dueAt < at ? dueAt : at };
}

/** Whether a taken payment is quarantined; its present taker does not count. */
export function isQuarantined({ lostTakes }: Pick<Payment, 'lostTakes'>): boolean {
  return lostTakes > QUARANTINE_AFTER_CRASHES;
}
