import type { Statement } from '../../db/statement.js';
import { GROWING, GROWING_TABLES } from '../../values/months.js';

export const RECORD_PART: Statement = {
  text: 'INSERT INTO archived_parts (month, part, written_at, manifest) VALUES ($1, $2, $3, $4)',
};

export const MANIFEST_OF_PART: Statement = {
  text: 'SELECT manifest FROM archived_parts WHERE month = $1 AND part = $2',
};

export const LAST_PART: Statement = {
  text: 'SELECT coalesce(max(part), 0)::int AS part FROM archived_parts WHERE month = $1',
};

/** The lowest id of each prefix; a backtick follows `_` in ASCII. */
export const FIRST_IDS: Statement = {
  text: GROWING_TABLES.flatMap((table) =>
    GROWING[table].map(
      (prefix) =>
        `(SELECT id FROM ${table} WHERE id >= '${prefix}' AND id < '${prefix.slice(0, -1)}\`' ORDER BY id LIMIT 1)`,
    ),
  ).join(' UNION ALL '),
};
