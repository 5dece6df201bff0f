import { GROWING_TABLES, type GrowingTable, type Slice } from '../values/months.js';

const names = GROWING_TABLES.map((table) => `'${table}'`).join(', ');

export const ARE_BY_MONTH = `SELECT relkind = 'p' AS "byMonth" FROM pg_class WHERE oid = to_regclass('payables')`;

export const HAS_ROWS = `SELECT ${GROWING_TABLES.map((table) => `EXISTS (SELECT FROM ${table})`).join(' OR ')} AS "hasRows"`;

/**
 * Of hundreds of months the planner would plan each statement anew, for longer than it takes to carry out; and since it knows
 * an id only then, it takes a look-up by id for one in all months, and would rather read them all.
 */
const PLANNER = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
};

/** For all who connect from here on. */
export const SET_PLANNER = `DO $$ BEGIN
  ${Object.entries(PLANNER)
    .map(([name, value]) => `EXECUTE format('ALTER DATABASE %I SET ${name} = ${value}', current_database());`)
    .join('\n  ')}
END $$`;

export const LOCKS = `SELECT current_setting('max_locks_per_transaction')::int AS locks`;

/**
 * What has to be made again of the tables as they are. Unique indexes are not: a partition knows only its own rows, so what
 * is unique over all time is the affair of payment_marks. Nor are foreign keys between them: a month could not go then.
 */
export const PARTS = `
  SELECT 'index' AS kind, tablename AS on, indexname AS name, indexdef AS definition FROM pg_indexes
  WHERE schemaname = current_schema() AND tablename IN (${names}) AND indexdef NOT LIKE 'CREATE UNIQUE%'
  UNION ALL
  SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
  WHERE conrelid::regclass::text IN (${names}) AND contype = 'f' AND confrelid::regclass::text NOT IN (${names})
  UNION ALL
  SELECT 'view', viewname, viewname, definition FROM pg_views
  WHERE schemaname = current_schema() AND viewname <> 'payment_uses'`;

/** The tables of months, and those of all that lies between: from and below as Postgres writes them. */
export const PARTITIONS = `
  SELECT inhparent::regclass::text AS "table", inhrelid::regclass::text AS name,
    pg_get_expr(relpartbound, inhrelid) AS bounds
  FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
  WHERE inhparent::regclass::text IN (${names}) AND relispartition`;

/** No default partition: lists in the order of ids would be sorted from all months then, instead of read from one to the next. */
export function makeRoot(table: GrowingTable): string {
  return `
    CREATE TABLE ${table}_by_month (${like(table)}) PARTITION BY RANGE (id);
    DROP TABLE ${table} CASCADE;
    ALTER TABLE ${table}_by_month RENAME TO ${table};
    ALTER TABLE ${table} ADD CONSTRAINT ${table}_pkey PRIMARY KEY (id);
    CREATE TABLE ${table}_between_0 PARTITION OF ${table} FOR VALUES FROM (MINVALUE) TO (MAXVALUE)`;
}

/** Of ids; beyond the lowest and the highest there are none. */
export interface Bounds {
  from: string;
  below: string;
}

export interface Between extends Bounds {
  name: string;
}

export const LOWEST = '';
/** No id begins with it, or with what comes after it. */
export const HIGHEST = '~';

/**
 * Out of what lies between months, with those of its rows that have come too early: there are none as long as months are made
 * ahead. What remains lies before the month, or after it; `another` is the name for the second of two.
 */
export function makeMonth(
  { table, partition, from, below }: Slice,
  between: Between,
  another: string,
): string {
  const before = { name: between.name, from: between.from, below: from };
  const after = { name: between.from === from ? between.name : another, from: below, below: between.below };
  const isNew = after.name === another;
  const hasAfter = after.from !== after.below;
  return [
    `ALTER TABLE ${table} DETACH PARTITION ${between.name}`,
    ...moved(table, partition, between.name, { from, below }),
    attach(table, { name: partition, from, below }),
    ...(isNew && hasAfter ? moved(table, another, between.name, after) : []),
    ...(between.from === from ? [] : [attach(table, before)]),
    ...(hasAfter ? [attach(table, after)] : []),
    ...(between.from === from && !hasAfter ? [`DROP TABLE ${between.name}`] : []),
  ].join(';\n');
}

function moved(table: GrowingTable, name: string, source: string, { from, below }: Bounds): string[] {
  const conditions = [`id >= '${from}'`, ...(below === HIGHEST ? [] : [`id < '${below}'`])];
  return [
    `CREATE TABLE ${name} (${like(table)})`,
    `WITH moved AS (DELETE FROM ${source} WHERE ${conditions.join(' AND ')} RETURNING *)
     INSERT INTO ${name} SELECT * FROM moved`,
  ];
}

function attach(table: GrowingTable, { name, from, below }: Between): string {
  const lower = from === LOWEST ? 'MINVALUE' : `'${from}'`;
  const upper = below === HIGHEST ? 'MAXVALUE' : `'${below}'`;
  return `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${lower}) TO (${upper})`;
}

function like(table: GrowingTable): string {
  return `LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE`;
}

/** A range that Postgres can tell partitions by, which it cannot by LIKE. */
export const KIND_OF_VIEW: Readonly<Record<string, string>> = {
  checkout_sessions: "id >= 'cs_' AND id < 'cs`'",
  refunds: "id >= 're_' AND id < 're`'",
};

const MARKED =
  'checkout_session_id, payload_key, payload_released, identifier, network, transaction, proof_index';

/** Each payment's mark is written by the statement that writes the payment. */
export const KEEP_MARKS = `
  CREATE VIEW payment_uses AS SELECT payment_id, ${MARKED} FROM payment_marks;
  CREATE FUNCTION keep_payment_mark() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO payment_marks (payment_id, ${MARKED})
    VALUES (NEW.id, NEW.checkout_session_id, NEW.payload_key, NEW.payload_released, NEW.identifier, NEW.network,
      NEW.transaction, NEW.proof_index)
    ON CONFLICT (payment_id) DO UPDATE SET payload_released = excluded.payload_released,
      identifier = excluded.identifier, transaction = excluded.transaction, proof_index = excluded.proof_index;
    RETURN NULL;
  END $$;
  CREATE TRIGGER new_payment_mark AFTER INSERT ON payments FOR EACH ROW EXECUTE FUNCTION keep_payment_mark();
  CREATE TRIGGER changed_payment_mark AFTER UPDATE ON payments FOR EACH ROW
    WHEN (NEW.payload_released IS DISTINCT FROM OLD.payload_released
      OR NEW.identifier IS DISTINCT FROM OLD.identifier OR NEW.proof_index IS DISTINCT FROM OLD.proof_index)
    EXECUTE FUNCTION keep_payment_mark()`;
