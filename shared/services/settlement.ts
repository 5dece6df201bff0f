import { raw } from 'objection';
import { now } from '../clock.js';
import type { Knex } from '../db/knex.js';
import type { Observation, PaymentStage } from '../domain/payment.js';
import { Payment } from '../models/payment.js';

/**
 * Taking a payment's due work. Taking is one UPDATE that raises `attempt` and moves `due_at` past the longest that the
 * work can last; whatever comes of it is written only while `attempt` is still the taker's. So a stalled copy of a job
 * changes nothing, and a killed worker's row becomes due again.
 */

/** How long after a `/settle` call's timeout it can no longer be in flight. */
export const AFTER_TIMEOUT_MS = 30_000;
/** The longest that a look at a chain, with what follows, lasts. */
const LOOK_LEASE_MS = 60_000;

/**
 * Marks, durably, that money may be moving from here on: the row is already one to be confirmed, due when the call
 * surely has ended. A worker that dies in between leaves it so.
 */
export async function beginSettlement(
  db: Knex,
  id: string,
  settleTimeoutMs: number,
): Promise<Payment | undefined> {
  const at = now();
  return await Payment.query(db)
    .patch({
      attempt: raw('attempt + 1'),
      stage: 'confirm',
      dueAt: new Date(at.getTime() + settleTimeoutMs + AFTER_TIMEOUT_MS),
      // A call that was begun and never ended had no clear answer.
      settleUnclear: raw('settle_unclear OR (settle_calls > 0 AND settle_ended_at IS NULL)'),
      settleCalls: raw('settle_calls + 1'),
      settleAskedAt: at,
      settleEndedAt: null,
    })
    .where({ id, stage: 'settle', status: 'processing' })
    .where('dueAt', '<=', at)
    .returning('*')
    .first();
}

export async function beginLook(db: Knex, id: string): Promise<Payment | undefined> {
  const at = now();
  return await Payment.query(db)
    .patch({ attempt: raw('attempt + 1'), dueAt: new Date(at.getTime() + LOOK_LEASE_MS) })
    .where({ id })
    .whereIn('stage', ['confirm', 'watch'])
    .where('dueAt', '<=', at)
    .returning('*')
    .first();
}

export interface NextWork {
  stage: PaymentStage;
  dueAt: Date;
}

type Progress = Partial<
  Pick<
    Payment,
    | 'settleEndedAt'
    | 'settleUnclear'
    | 'reportedTransaction'
    | 'unusedSeenAt'
    | 'unreadableSince'
    | 'failureCode'
  >
>;

/** Writes what was learnt and when to go on; false when another taker has the row by now. */
export async function postpone(
  db: Knex,
  payment: Payment,
  next: NextWork | undefined,
  observation: Omit<Observation, 'at'>,
  progress: Progress = {},
): Promise<boolean> {
  const updated = await Payment.query(db)
    .patch({
      ...progress,
      stage: next?.stage ?? null,
      dueAt: next?.dueAt ?? null,
      history: withObservation(observation),
    })
    .where({ id: payment.id, attempt: payment.attempt, status: payment.status });
  return updated === 1;
}

/** Appends to the history what the last entry does not already say. */
export function withObservation({ source, said }: Omit<Observation, 'at'>): ReturnType<typeof raw> {
  const entry: Observation = { at: now().toISOString(), source, said };
  return raw(
    `CASE WHEN history -> -1 ->> 'source' = ? AND history -> -1 ->> 'said' = ? THEN history ELSE history || ?::jsonb END`,
    [source, said, JSON.stringify(entry)],
  );
}

export interface DuePayment extends NextWork {
  id: string;
  attempt: number;
}

/** The longest due of each stage, up to `limit`: a crowd in one stage hides nothing of another. */
export async function listDuePayments(
  db: Knex,
  stages: readonly PaymentStage[],
  limit: number,
): Promise<DuePayment[]> {
  const due: DuePayment[] = [];
  for (const stage of stages) {
    const rows = await Payment.query(db)
      .select('id', 'attempt', 'dueAt')
      .where({ stage })
      .where('dueAt', '<=', now())
      .orderBy('dueAt')
      .limit(limit);
    for (const { id, attempt, dueAt } of rows) if (dueAt !== null) due.push({ id, attempt, stage, dueAt });
  }
  return due;
}
