import type { Model } from 'objection';
import { ANSWER_PART_BYTES } from '../limits/bounds.js';
import { modelColumns, type Row } from './model-columns.js';

/**
 * Columns of a model, some of them `long`. A statement over many rows returns the size of each row's long columns, and
 * their values only in rows of at most `share` bytes. The caller reads larger rows one at a time.
 */
export interface Sized<T> {
  id: string;
  bytes: number;
  /** Undefined when it is larger than its share. */
  object: T | undefined;
}

interface SizedColumns<M> {
  /** `share` is bytes, or a parameter of the statement. */
  sql(share: number | string): string;
  /** A join that `sql` refers to. */
  join: string;
  read(row: Row): M;
}

/** `atLeast` holds SQL expressions for a lower bound of a column's size that Postgres knows without reading the column. */
export function sizedColumns<M extends Model>(
  modelClass: (new () => M) & typeof Model,
  alias: string,
  fields: readonly (keyof M & string)[],
  long: readonly (keyof M & string)[],
  atLeast: Partial<Record<keyof M & string, string>> = {},
): SizedColumns<M> {
  const short = modelColumns(
    modelClass,
    alias,
    fields.filter((field) => !long.includes(field)),
  );
  const large = modelColumns(modelClass, alias, long);
  const isJson = (field: string): boolean => modelClass.jsonAttributes?.includes(field) === true;
  const bytes = large.columns.map(({ field, column }) => {
    const exact = isJson(field) ? jsonBytes(column) : textBytes(column);
    const known = atLeast[field];
    // Above ANSWER_PART_BYTES the exact size does not matter: the row is read alone.
    return known === undefined
      ? exact
      : `CASE WHEN ${known} > ${ANSWER_PART_BYTES} THEN ${known} ELSE ${exact} END`;
  });
  return {
    sql: (share) =>
      [
        short.sql,
        'size.bytes AS bytes',
        ...large.columns.map(
          ({ column, name }) => `CASE WHEN size.bytes <= ${share} THEN ${column} END AS "${name}"`,
        ),
      ].join(', '),
    join: `CROSS JOIN LATERAL (SELECT ${bytes.join(' + ')} AS bytes OFFSET 0) size`,
    read: modelColumns(modelClass, alias, fields).read,
  };
}

/** Postgres knows the length of a text without detoasting it. */
export function textBytes(column: string): string {
  return `coalesce(octet_length(${column}), 0)`;
}

/** Postgres knows the length of uncompressed JSON without detoasting it. */
export function jsonBytes(column: string): string {
  return `coalesce(CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END, 0)`;
}
