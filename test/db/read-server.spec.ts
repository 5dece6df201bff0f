import assert from 'node:assert/strict';
import { loadConfig } from '../../shared/config/config.js';
import { type CommitMemory, openCommitMemory } from '../../shared/db/commit-memory.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { createMigratedDatabase } from '../support/suite.js';

/** A managed service may refuse the functions that tell a server's state. */
describe("reading how far Postgres has written, by a user without the server's privileges", () => {
  let databaseUrl: string;
  let admin: Knex;
  const user = `plain_${process.pid}`;
  before(async () => {
    databaseUrl = await createMigratedDatabase('read_server');
    admin = openDatabase(loadConfig({ DATABASE_URL: databaseUrl }, 'cli').database);
    await admin.raw(`CREATE ROLE ${user} LOGIN`);
  });
  after(async () => {
    await admin.raw(`DROP ROLE ${user}`);
    await admin.destroy();
  });

  async function readAs(work: (memory: CommitMemory) => void): Promise<void> {
    const memory = openCommitMemory(() => assert.fail('nothing was lost'));
    const url = new URL(databaseUrl);
    url.username = user;
    const { database } = loadConfig({ DATABASE_URL: url.href }, 'cli');
    const db = openDatabase(database, undefined, { commits: memory });
    try {
      for (let n = 0; n < 2; n += 1) assert.equal((await db.raw('SELECT 1 AS one')).rows[0].one, 1);
      work(memory);
    } finally {
      await db.destroy();
    }
  }

  async function withoutFunctions(names: string[], work: () => Promise<void>): Promise<void> {
    for (const name of names) await admin.raw(`REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`);
    try {
      await work();
    } finally {
      for (const name of names) await admin.raw(`GRANT EXECUTE ON FUNCTION ${name} TO PUBLIC`);
    }
  }

  it('needs no privilege', async () => {
    await readAs((memory) => {
      const { position } = memory.latest() ?? assert.fail('the position is unknown');
      assert.equal(position.timeline, 1);
      assert.match(position.server ?? '', /^\d+$/);
      assert.ok(position.flushed > 1_000_000);
    });
  });

  it('does without the name of the server', async () => {
    await withoutFunctions(['pg_control_system()'], () =>
      readAs((memory) => {
        const { position } = memory.latest() ?? assert.fail('the position is unknown');
        assert.deepEqual([position.server, position.timeline], [null, 1]);
      }),
    );
  });

  it('does without the position', async () => {
    await withoutFunctions(['pg_current_wal_flush_lsn()', 'pg_control_checkpoint()'], () =>
      readAs((memory) => assert.equal(memory.latest(), undefined)),
    );
  });
});
