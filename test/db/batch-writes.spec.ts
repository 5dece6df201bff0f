import assert from 'node:assert/strict';
import { loadConfig } from '../../shared/config/config.js';
import { batchWrites } from '../../shared/db/batch-writes.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { runStatement } from '../../shared/db/statement.js';
import { MAX_WRITTEN_BATCH_BYTES } from '../../shared/limits/bounds.js';
import { allStatements, captureStatements } from '../support/query-plans.js';
import { createDatabase } from '../support/suite.js';

interface Entry {
  id: number;
  note: string;
}

const TOGETHER = {
  name: 'mark_together',
  text: `
    WITH free AS (
      SELECT id FROM entries WHERE id = ANY ($1::integer[]) FOR UPDATE SKIP LOCKED
    )
    UPDATE entries SET note = asked.note
    FROM free JOIN unnest($1::integer[], $2::text[]) AS asked (id, note) USING (id)
    WHERE entries.id = free.id
    RETURNING entries.id`,
};
const ALONE = { name: 'mark_alone', text: 'UPDATE entries SET note = $2 WHERE id = $1' };

const mark = batchWrites<Entry, string>({
  keyOf: ({ id }) => String(id),
  async writeBatch(db, entries) {
    const values = [entries.map(({ id }) => id), entries.map(({ note }) => note)];
    const marked = new Set((await runStatement<{ id: number }>(db, TOGETHER, values)).map(({ id }) => id));
    return entries.map(({ id }) => (marked.has(id) ? 'together' : undefined));
  },
  async writeOne(db, { id, note }) {
    await runStatement(db, ALONE, [id, note]);
    return 'alone';
  },
  onBrokenConnection: () => Promise.resolve('unclear'),
});

/** Writes that only record their batches. */
function recorded<T extends { id: number }>(bytesOf?: (item: T) => number) {
  const batches: T[][] = [];
  const write = batchWrites<T, string>({
    keyOf: ({ id }) => String(id),
    ...(bytesOf && { bytesOf }),
    async writeBatch(_db, items) {
      batches.push([...items]);
      return items.map(() => 'together');
    },
    writeOne: () => Promise.resolve('alone'),
    onBrokenConnection: () => Promise.resolve('unclear'),
  });
  return { write, batches };
}

describe('batched writes', () => {
  let db: Knex;
  before(async () => {
    const url = await createDatabase('write_together');
    db = openDatabase(loadConfig({ DATABASE_URL: url }, 'migrate').database);
    await db.raw(`CREATE TABLE entries (id integer PRIMARY KEY, note text CHECK (note <> 'bad'))`);
  });
  beforeEach(async () => {
    await db.raw('TRUNCATE entries');
    await db.raw('INSERT INTO entries SELECT n FROM generate_series(1, 200) AS n');
  });
  after(() => db.destroy());

  const entries = (count: number): Entry[] =>
    Array.from({ length: count }, (_, index) => ({ id: index + 1, note: `of ${index + 1}` }));
  const markAll = (all: readonly Entry[]): Promise<string[]> =>
    Promise.all(all.map((entry) => mark(db, entry)));
  const noteOf = async (id: number): Promise<string> =>
    (await db('entries').where({ id }).first('note')).note;

  it('share a statement, at most fifty per batch, and each caller gets its own result', async () => {
    const sent = await allStatements(db, async () => {
      assert.deepEqual(new Set(await markAll(entries(120))), new Set(['together']));
    });
    assert.equal(sent.length, 3);
    assert.equal(await noteOf(77), 'of 77');
  });

  it('of the same row are sent in order, each in a batch of its own', async () => {
    const { write, batches } = recorded<Entry>();
    const [first, second, only, third] = [
      { id: 1, note: 'first' },
      { id: 1, note: 'second' },
      { id: 2, note: 'only' },
      { id: 1, note: 'third' },
    ] as const;
    await Promise.all([first, second, only, third].map((entry) => write(db, entry)));
    assert.deepEqual(batches, [[first, only], [second], [third]]);
  });

  it('skip a locked row, which is written alone once it is free', async () => {
    const trx = await db.transaction();
    await trx.raw('SELECT 1 FROM entries WHERE id = 2 FOR UPDATE');
    const held = mark(db, { id: 2, note: 'held' });
    assert.deepEqual(await markAll(entries(1)), ['together']);
    await trx.commit();
    assert.equal(await held, 'alone');
    assert.equal(await noteOf(2), 'held');
  });

  it('do not wait for a hanging one', async () => {
    const trx = await db.transaction();
    await trx.raw('LOCK TABLE entries IN ACCESS EXCLUSIVE MODE');
    const stuck = mark(db, { id: 3, note: 'stuck' });
    await new Promise(setImmediate);
    const statements = captureStatements(db, async () => {
      const later = mark(db, { id: 4, note: 'later' });
      await new Promise((resolve) => db.once('query', resolve));
      await trx.commit();
      assert.equal(await later, 'together');
    });
    assert.equal((await statements).length, 1);
    assert.equal(await stuck, 'together');
  });

  it('are repeated one by one when Postgres refuses the batch: one fails, the others do not', async () => {
    const [first, bad] = await Promise.allSettled([
      mark(db, { id: 5, note: 'good' }),
      mark(db, { id: 6, note: 'bad' }),
    ]);
    assert.deepEqual(first, { status: 'fulfilled', value: 'alone' });
    assert.match(String(bad.status === 'rejected' && bad.reason), /check constraint/);
    assert.equal(await noteOf(5), 'good');
  });

  it('are each unclear when their connection breaks', async () => {
    const trx = await db.transaction();
    await trx.raw('LOCK TABLE entries IN ACCESS EXCLUSIVE MODE');
    const broken = markAll(entries(2));
    await new Promise((resolve) => db.once('query', resolve));
    let ended = 0;
    while (ended === 0) {
      const { rowCount } = await db.raw(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      ended = rowCount;
    }
    assert.deepEqual(await broken, ['unclear', 'unclear']);
    await trx.rollback();
  });

  it('share a statement up to a limit of bytes, and a larger write has its own', async () => {
    const { write, batches } = recorded<{ id: number; bytes: number }>(({ bytes }) => bytes);
    const half = MAX_WRITTEN_BATCH_BYTES / 2;
    const all = [half, half, 1, MAX_WRITTEN_BATCH_BYTES * 3, 1, half];
    await Promise.all(all.map((bytes, id) => write(db, { id, bytes })));
    const sizes = batches.map((batch) => batch.length);
    assert.deepEqual(sizes, [2, 1, 1, 2]);
  });
});
