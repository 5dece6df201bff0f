import { batchWrites, LINGER_MS } from '../db/batch-writes.js';
import type { Knex } from '../db/knex.js';
import type { Row } from '../db/model-columns.js';
import { runStatement, type Statement } from '../db/statement.js';
import { QUARANTINE_AFTER_CRASHES } from '../limits/bounds.js';
import { Payment } from '../payments/model.js';
import type { PaymentStage } from '../payments/states.js';
import { now, nowMs } from '../process/clock.js';
import { AFTER_TIMEOUT_MS } from './policy/limits.js';
import {
  BEGIN_ALONE,
  BEGIN_BATCH,
  BEGIN_LOOK,
  DUE_OF_STAGE,
  looked,
  payment,
} from './statements/take-work.sql.js';

/**
 * Taking a payment's due work. Taking is one UPDATE that raises `attempt` and moves `due_at` past the longest that the
 * work can last; whatever comes of it is written only while `attempt` is still the taker's. So a stalled copy of a job
 * changes nothing, and a killed worker's row becomes due again. It counts its takers who wrote no outcome.
 */

/** The longest that a look at a chain, with what follows, lasts. */
const LOOK_LEASE_MS = 60_000;

/** How long after it was due a look still goes on where the one before it stopped. */
const LATE_LOOK_MS = 20_000;

/**
 * Marks, durably, that money may be moving from here on: the row is already one to be confirmed, due when the call
 * surely has ended. A worker that dies in between leaves it so.
 */
export async function beginSettlement(
  db: Knex,
  id: string,
  settleTimeoutMs: number,
): Promise<Payment | undefined> {
  return await begin(db, { id, settleTimeoutMs });
}

interface Beginning {
  id: string;
  settleTimeoutMs: number;
}

const begin = batchWrites<Beginning, Payment | undefined>({
  keyOf: ({ id }) => id,
  lingerMs: LINGER_MS,
  async writeBatch(db, beginnings) {
    const begun = await beginAll(db, BEGIN_BATCH, beginnings);
    return beginnings.map(({ id }) => begun.get(id));
  },
  async writeOne(db, beginning) {
    return (await beginAll(db, BEGIN_ALONE, [beginning])).get(beginning.id);
  },
  onBrokenConnection: (_db, _beginning, error) => Promise.reject(error),
});

async function beginAll(
  db: Knex,
  statement: Statement,
  beginnings: readonly Beginning[],
): Promise<ReadonlyMap<string, Payment>> {
  const at = now();
  const list = beginnings.map(({ id, settleTimeoutMs }) => ({
    id,
    ends_at: new Date(at.getTime() + settleTimeoutMs + AFTER_TIMEOUT_MS),
  }));
  const rows = await runStatement<Row>(db, statement, [JSON.stringify(list), at]);
  return new Map(rows.map((row) => payment.read(row)).map((one) => [one.id, one]));
}

/**
 * A silence of the chain counts while one look after another meets it. So its taker has it in hand and the row does not:
 * a look that is lost, whatever it had seen, or that comes late, begins the silence anew.
 */
export async function beginLook(db: Knex, id: string): Promise<Payment | undefined> {
  const at = nowMs();
  const times = [at, at + LOOK_LEASE_MS, at - LATE_LOOK_MS].map((ms) => new Date(ms));
  const [row] = await runStatement<Row>(db, BEGIN_LOOK, [id, ...times]);
  if (row === undefined) return undefined;
  return Object.assign(looked.read(row), { unreadableSince: row.silent_since });
}

export interface NextWork {
  stage: PaymentStage;
  dueAt: Date;
}

export interface DuePayment extends NextWork {
  id: string;
  attempt: number;
  lostTakes: number;
}

/** The longest due of each stage, up to `limit`: a crowd in one stage hides nothing of another. */
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

/** Those that so many takers have died with that they are taken alone, and of them first what fewest died with. */
export async function listDueQuarantined(
  db: Knex,
  stages: readonly PaymentStage[],
  limit: number,
): Promise<DuePayment[]> {
  const rows = await Payment.query(db)
    .select('id', 'stage', 'attempt', 'dueAt', 'lostTakes')
    .whereIn('stage', stages)
    .where('dueAt', '<=', now())
    .where('lostTakes', '>=', QUARANTINE_AFTER_CRASHES)
    .orderBy(['lostTakes', 'dueAt'])
    .limit(limit);
  return rows.flatMap(presentDue);
}

function presentDue({ id, stage, attempt, lostTakes, dueAt }: Payment): DuePayment[] {
  return stage === null || dueAt === null ? [] : [{ id, stage, attempt, lostTakes, dueAt }];
}

/** Of one that has been taken, its present taker not counted. */
export function isQuarantined({ lostTakes }: Pick<Payment, 'lostTakes'>): boolean {
  return lostTakes > QUARANTINE_AFTER_CRASHES;
}
