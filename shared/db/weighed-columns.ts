import type { Model } from 'objection';
import { ANSWER_PART_BYTES } from '../limits/bounds.js';
import { modelColumns, type Row } from './model-columns.js';

/**
 * A model whose `long` columns may hold much. A statement over many rows gives them only where they are no more than the
 * row's share of the answer, and says of every row how many bytes they are: the others are read when their turn comes.
 */
export interface Weighed<T> {
  id: string;
  bytes: number;
  /** Undefined when it is heavier than its share. */
  object: T | undefined;
}

export interface WeighedColumns<M> {
  /** `share` is bytes, or a parameter of the statement. */
  sql(share: number | string): string;
  /** What `sql` refers to, after the FROM. */
  join: string;
  read(row: Row): M;
}

/** `atLeast` is what a column is known to have, in SQL, without it being read. */
export function weighedColumns<M extends Model>(
  modelClass: (new () => M) & typeof Model,
  alias: string,
  fields: readonly (keyof M & string)[],
  long: readonly (keyof M & string)[],
  atLeast: Partial<Record<keyof M & string, string>> = {},
): WeighedColumns<M> {
  const short = modelColumns(
    modelClass,
    alias,
    fields.filter((field) => !long.includes(field)),
  );
  const heavy = modelColumns(modelClass, alias, long);
  const isJson = (field: string): boolean => modelClass.jsonAttributes?.includes(field) === true;
  const bytes = heavy.columns.map(({ field, column }) => {
    const exact = isJson(field) ? jsonBytes(column) : textBytes(column);
    const known = atLeast[field];
    // More than a part of an answer is read by itself, however much more it is.
    return known === undefined
      ? exact
      : `CASE WHEN ${known} > ${ANSWER_PART_BYTES} THEN ${known} ELSE ${exact} END`;
  });
  return {
    sql: (share) =>
      [
        short.sql,
        'weight.bytes AS bytes',
        ...heavy.columns.map(
          ({ column, name }) => `CASE WHEN weight.bytes <= ${share} THEN ${column} END AS "${name}"`,
        ),
      ].join(', '),
    join: `CROSS JOIN LATERAL (SELECT ${bytes.join(' + ')} AS bytes OFFSET 0) weight`,
    read: modelColumns(modelClass, alias, fields).read,
  };
}

/** Postgres has the length of a text without reading it. */
export function textBytes(column: string): string {
  return `coalesce(octet_length(${column}), 0)`;
}

/** And of JSON when it was not compressed. */
export function jsonBytes(column: string): string {
  return `coalesce(CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END, 0)`;
}
