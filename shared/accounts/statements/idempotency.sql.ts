import type { Statement } from '../../db/statement.js';

/** A row of ANSWER_COLUMNS; the statement adds the account and the mode. */
export interface AnswerRow {
  key: string;
  path: string;
  fingerprint: string;
  answer: string;
  sealed: boolean;
  answered_at: Date;
  forgotten_before: Date;
}

export const ANSWER_COLUMNS =
  'key text, path text, fingerprint text, answer text, sealed boolean, answered_at timestamptz, forgotten_before timestamptz';

/**
 * SQL that stores the answers of `rows` and returns the stored keys; a key with an unexpired record is skipped. Ordered by
 * key, so that two statements with several common keys cannot deadlock.
 */
export function insertAnswers(rows: string): string {
  return `
    INSERT INTO idempotency_records (account_id, livemode, key, path, fingerprint, answer, sealed, created_at)
    SELECT account_id, livemode, key, path, decode(fingerprint, 'hex'), answer, sealed, answered_at
    FROM ${rows} WHERE key IS NOT NULL
    ORDER BY account_id, livemode, key
    ON CONFLICT (account_id, livemode, key) DO UPDATE
    SET path = excluded.path, fingerprint = excluded.fingerprint, answer = excluded.answer,
        sealed = excluded.sealed, created_at = excluded.created_at
    WHERE idempotency_records.created_at <= (SELECT min(forgotten_before) FROM ${rows})
    RETURNING account_id, livemode, key`;
}

export const INSERT_ANSWER: Statement = {
  name: 'insert_answer',
  text: `
    WITH answered AS (
      SELECT * FROM json_to_recordset($1) AS answered (account_id text, livemode boolean, ${ANSWER_COLUMNS})
    ) ${insertAnswers('answered')}`,
};
