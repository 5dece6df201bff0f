import type { Statement } from '../../db/statement.js';
import { LIGHT_ITEMS_CHARACTERS } from '../../limits/bounds.js';

/** Reads columns of links: of the session, of its merchant's account, and of the payment that holds or paid it. */
export function readLinks(name: string, columns: readonly string[]): Statement {
  return {
    name,
    text: `
      SELECT ${columns.join(', ')}
      -- Looked up row by row (OFFSET 0 keeps it so): else a plan made while a table is small reads all of it ever after.
      FROM unnest($1::text[]) AS asked (id)
      CROSS JOIN LATERAL (SELECT * FROM payables WHERE id = asked.id OFFSET 0) session
      CROSS JOIN LATERAL (SELECT * FROM accounts WHERE id = session.account_id OFFSET 0) account
      LEFT JOIN LATERAL (SELECT * FROM payments WHERE id = session.payment_id OFFSET 0) payment ON true`,
  };
}

/** The summary of a row. Rows from before the column `summary` get it from their line items. */
export const SUMMARY = `
  CASE WHEN session.summary IS NOT NULL THEN session.summary ELSE json_build_object(
    'name', session.line_items->0->'name',
    'quantity', session.line_items->0->'quantity',
    'others', json_array_length(session.line_items) - 1
  ) END`;

const amounts = `
  "unitAmountCents" AS unit_amount, quantity, "unitAmountCents" * quantity AS amount_total
  FROM json_to_recordset(session.line_items)
    AS item (name text, description text, images json, "unitAmountCents" bigint, quantity bigint)`;

/** JSON as text, which is sent without parsing. */
const PUBLIC_ITEMS = `
  (SELECT coalesce(json_agg(item), '[]')::text FROM (SELECT name, description, images, ${amounts}) item)`;

/** The line items of a complete session. Null when their length is over the bound or unknown: then a read of its own follows. */
export const LIGHT_PUBLIC_ITEMS = `
  CASE WHEN session.status = 'complete' AND (session.summary->>'characters')::int <= ${LIGHT_ITEMS_CHARACTERS}
  THEN ${PUBLIC_ITEMS} END`;

/** Omits image URLs: they are most of the bytes of line items, and the page never shows them. */
export const SHOWN_ITEMS = `
  (SELECT json_agg(item)
  FROM (SELECT name, description, json_array_length(images) AS image_count, ${amounts}) item)`;

export const READ_PUBLIC_ITEMS = {
  name: 'public_items',
  text: `SELECT ${PUBLIC_ITEMS} AS items FROM payables session WHERE id = $1`,
};

/** Reads a session's line items once for all its requested images. A request without an index asks for the logo. */
export const IMAGES = {
  name: 'link_images',
  text: `
    WITH asked AS MATERIALIZED (
      SELECT * FROM unnest($1::text[], $2::int[]) WITH ORDINALITY AS asked (id, number, position)
    )
    SELECT asked.position::int, session.account_id AS "accountId", account.logo_url AS url
    FROM asked
    CROSS JOIN LATERAL (SELECT account_id FROM payables WHERE id = asked.id OFFSET 0) session
    CROSS JOIN LATERAL (SELECT logo_url FROM accounts WHERE id = session.account_id OFFSET 0) account
    WHERE asked.number IS NULL
    UNION ALL
    SELECT asked.position::int, session.account_id, item.images->>(asked.number - item.before)::int
    FROM (SELECT DISTINCT id FROM asked WHERE number IS NOT NULL) wanted
    CROSS JOIN LATERAL (
      SELECT account_id, line_items FROM payables WHERE id = wanted.id OFFSET 0
    ) session
    CROSS JOIN LATERAL (
      SELECT images, count, sum(count) OVER (ORDER BY place) - count AS before
      FROM (
        SELECT place, images, json_array_length(images) AS count
        FROM ROWS FROM (json_to_recordset(session.line_items) AS (images json))
          WITH ORDINALITY AS items (images, place)
      ) item
    ) item
    JOIN asked
      ON asked.id = wanted.id AND asked.number >= item.before AND asked.number < item.before + item.count`,
};
