import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { now, nowMs } from '../process/clock.js';
import type { SecretBox } from '../secrets/secrets.js';
import { IdempotencyRecord } from './model.js';

/**
 * An Idempotency-Key's first answer is written in the transaction of its effect, so either both exist or
 * neither. There is no in-progress row: of many requests at once the first inserts the record and the others
 * wait on its unique key, find it taken, undo what they did, and replay it.
 */
export interface IdempotentRequest {
  accountId: string;
  livemode: boolean;
  key: string;
  path: string;
  /** SHA-256 of the body in a form that is equal for equal bodies. */
  fingerprint: Buffer;
}

/** How a use case answers: it renders the bytes that are sent and, for an idempotent request, kept. */
export interface Reply<T> {
  render(result: T): string;
  idempotent: IdempotentRequest | undefined;
}

export const KEPT_FOR_MS = 24 * 3600 * 1000;

/** Thrown to undo an effect whose key another request used first. Never leaves the idempotency layer. */
export class KeyTaken extends Error {
  override readonly name = 'KeyTaken';
}

/** An answer as the statement that keeps it is told of it; account and mode are those of its effect. */
export interface AnswerToKeep {
  key: string;
  path: string;
  fingerprint: string;
  answer: string;
  sealed: boolean;
  answered_at: Date;
}

export const ANSWER_COLUMNS =
  'key text, path text, fingerprint text, answer text, sealed boolean, answered_at timestamptz';

export function answerToKeep(
  { key, path, fingerprint }: IdempotentRequest,
  text: string,
  sealed = false,
): AnswerToKeep {
  return { key, path, fingerprint: fingerprint.toString('hex'), answer: text, sealed, answered_at: now() };
}

/**
 * Keeps the answers of these rows, and returns those that it kept: none whose key has a live record. In the order of
 * their keys, so that two statements which meet at several wait for each other in one direction only.
 */
export function keepAnswers(rows: string): string {
  return `
    INSERT INTO idempotency_records (account_id, livemode, key, path, fingerprint, answer, sealed, created_at)
    SELECT account_id, livemode, key, path, decode(fingerprint, 'hex'), answer, sealed, answered_at
    FROM ${rows} WHERE key IS NOT NULL
    ORDER BY account_id, livemode, key
    ON CONFLICT (account_id, livemode, key) DO UPDATE
    SET path = excluded.path, fingerprint = excluded.fingerprint, answer = excluded.answer,
        sealed = excluded.sealed, created_at = excluded.created_at
    WHERE idempotency_records.created_at <= excluded.created_at - interval '${KEPT_FOR_MS} milliseconds'
    RETURNING account_id, livemode, key`;
}

const KEEP = {
  name: 'keep_answer',
  text: `
    WITH answered AS (
      SELECT * FROM json_to_recordset($1) AS answered (account_id text, livemode boolean, ${ANSWER_COLUMNS})
    ) ${keepAnswers('answered')}`,
};

/** Renders the answer and keeps it in this transaction. With a secret box it is encrypted: it holds a secret. */
export async function answerAndKeep<T>(
  trx: Knex.Transaction,
  reply: Reply<T>,
  result: T,
  box?: SecretBox,
): Promise<string> {
  const text = reply.render(result);
  if (reply.idempotent !== undefined) {
    const kept = box === undefined ? text : box.seal(text);
    const { accountId, livemode } = reply.idempotent;
    const row = {
      account_id: accountId,
      livemode,
      ...answerToKeep(reply.idempotent, kept, box !== undefined),
    };
    if ((await runStatement(trx, KEEP, [JSON.stringify([row])])).length === 0) throw new KeyTaken();
  }
  return text;
}

/** The kept answer to this very request; a key that was used for something else is refused. */
export async function findAnswer(
  db: Knex,
  request: IdempotentRequest,
  box: SecretBox,
): Promise<string | undefined> {
  const record = await IdempotencyRecord.query(db)
    .findOne({ accountId: request.accountId, livemode: request.livemode, key: request.key })
    .where('createdAt', '>', new Date(nowMs() - KEPT_FOR_MS));
  if (record === undefined) return undefined;
  if (record.path !== request.path) {
    throw reused(
      `The Idempotency-Key '${request.key}' was first used for ${record.path}. Use a new key for ${request.path}.`,
    );
  }
  if (!record.fingerprint.equals(request.fingerprint)) {
    throw reused(
      `The Idempotency-Key '${request.key}' was first used with other parameters. Send the same ones, or a new key.`,
    );
  }
  return record.sealed ? box.open(record.answer) : record.answer;
}

function reused(message: string): Refusal {
  return new Refusal('idempotency_key_reused', message);
}
