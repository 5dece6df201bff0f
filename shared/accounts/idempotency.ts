import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { Refusal } from '../errors/refusal.js';
import { certainNow, laterNowMs } from '../process/clock.js';
import { openIfPossible, type SecretBox } from '../secrets/secrets.js';
import { IdempotencyRecord } from './model.js';
import { type AnswerRow, INSERT_ANSWER } from './statements/idempotency.sql.js';

/**
 * A request with an Idempotency-Key. The first answer to the key is written in the transaction of its effect, so either both exist or
 * neither. There is no in-progress row: of concurrent requests the first one inserts the record. The others wait on the
 * unique key, roll back, and replay the stored answer.
 */
export interface IdempotentRequest {
  accountId: string;
  livemode: boolean;
  key: string;
  path: string;
  /** SHA-256 of the body in a form that is equal for equal bodies. */
  fingerprint: Buffer;
}

/** How a use case renders its answer, and the idempotent request, if it is one, whose answer is stored. */
export interface AnswerRendering<T> {
  render(result: T): string;
  idempotent: IdempotentRequest | undefined;
}

export const KEPT_FOR_MS = 24 * 3600 * 1000;

/**
 * Records from before this time are forgotten. A record is written by the later of two clocks and forgotten by the earlier, so
 * that a clock that is off keeps it longer: a retry whose record is gone would have its effect again.
 */
export function forgottenBefore(): Date {
  return new Date(certainNow().getTime() - KEPT_FOR_MS);
}

/** Thrown to roll back an effect whose key another request used first. `answerOnce` catches it. */
export class IdempotencyKeyTaken extends Error {
  override readonly name = 'IdempotencyKeyTaken';
}

export function answerRow(
  { key, path, fingerprint }: IdempotentRequest,
  text: string,
  sealed = false,
): AnswerRow {
  return {
    key,
    path,
    fingerprint: fingerprint.toString('hex'),
    answer: text,
    sealed,
    answered_at: new Date(laterNowMs()),
    forgotten_before: forgottenBefore(),
  };
}

/** Renders the answer and stores it in this transaction, encrypted when a secret box is given. */
export async function renderAndStore<T>(
  trx: Knex.Transaction,
  rendering: AnswerRendering<T>,
  result: T,
  box?: SecretBox,
): Promise<string> {
  const text = rendering.render(result);
  if (rendering.idempotent !== undefined) {
    const stored = box === undefined ? text : box.seal(text);
    const { accountId, livemode } = rendering.idempotent;
    const row = {
      account_id: accountId,
      livemode,
      ...answerRow(rendering.idempotent, stored, box !== undefined),
    };
    if ((await runStatement(trx, INSERT_ANSWER, [JSON.stringify([row])])).length === 0)
      throw new IdempotencyKeyTaken();
  }
  return text;
}

/** The stored answer to this request. Refuses a key that was first used for another request. */
export async function findAnswer(
  db: Knex,
  request: IdempotentRequest,
  box: SecretBox,
): Promise<string | undefined> {
  const record = await IdempotencyRecord.query(db)
    .findOne({ accountId: request.accountId, livemode: request.livemode, key: request.key })
    .where('createdAt', '>', forgottenBefore());
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
  return record.sealed ? openAnswer(box, record.answer) : record.answer;
}

/** While ENCRYPTION_KEY is rotated, a process that has not been restarted lacks the key of a newer one's answers. */
function openAnswer(box: SecretBox, sealed: string): string {
  const answer = openIfPossible(box, sealed);
  if (answer !== undefined) return answer;
  throw new Refusal(
    'service_unavailable',
    'The answer to this Idempotency-Key is encrypted with a key that this process does not have. Nothing was done. Try again in a few seconds.',
    { retryAfterSeconds: 5 },
  );
}

function reused(message: string): Refusal {
  return new Refusal('idempotency_key_reused', message);
}
