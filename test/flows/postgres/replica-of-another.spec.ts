import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { copyForStandby } from '../../../lab/world/processes/live-copy.js';
import { startPair } from '../../../lab/world/processes/standby.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../../local/postgres/embedded-postgres.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openReplica, type Replica } from '../../../shared/db/replica.js';
import { forAllTests } from '../../support/hooks.js';
import { loggerWithLines } from '../../support/log-lines.js';

const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: 100 };

describe('a read replica, after the other standby has become the primary', () => {
  const pair = forAllTests(startPair);
  const folders: string[] = [];
  let ofFormer: EmbeddedPostgres;
  let ofNew: EmbeddedPostgres;
  let replica: Replica;
  let lines: Record<string, unknown>[];
  before(async () => {
    ofFormer = await follow(pair.primary.url, 'of-former');
    ofNew = await follow(pair.standby.url, 'of-new');
    await failOver();
  });
  afterEach(() => replica.close());
  after(async () => {
    await Promise.all([ofFormer.stop(), ofNew.stop()]);
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  /** Starts a standby of the server at this address, from a copy of the primary. */
  async function follow(address: string, name: string): Promise<EmbeddedPostgres> {
    const { rows } = await pair.primary.db.raw('SHOW data_directory');
    const folder = await copyForStandby({ url: pair.primary.url, dataDir: rows[0].data_directory }, name);
    folders.push(folder);
    const { searchParams, username } = new URL(address);
    const primary_conninfo = `host=${searchParams.get('host')} port=5432 user=${username}`;
    return await startEmbeddedPostgres({ dir: folder, settings: { ...SETTINGS, primary_conninfo } });
  }

  /** The former primary goes on, and its log is longer than that of the new one. */
  async function failOver(): Promise<void> {
    await pair.cutStream();
    await pair.primary.db.raw('CREATE TABLE filler AS SELECT generate_series(1, 50000) AS number');
    await pair.promote();
    await eventually(async () => {
      const { rows } = await pair.standby.db.raw('SELECT pg_is_in_recovery() AS "isStandby"');
      assert.equal(rows[0].isStandby, false);
    });
  }

  function open({ url }: EmbeddedPostgres): void {
    const config = loadConfig(
      {
        DATABASE_URL: pair.standby.url,
        DATABASE_REPLICA_URL: url,
        FACILITATOR_URL: 'http://127.0.0.1:1',
        REDIS_URL: 'redis://127.0.0.1:1',
      },
      'web',
    );
    assert.ok(config.replica !== undefined);
    const logged = loggerWithLines('info');
    lines = logged.lines;
    replica = openReplica(pair.standby.db, config.replica, logged.logger);
  }

  it('is left out when it still follows the former one, however far it is', async () => {
    open(ofFormer);
    const { event, why } = await eventually(() => lines.at(0) ?? assert.fail('nothing is logged yet'));
    assert.deepEqual([event, why], ['replica.left_out', 'behind']);
    assert.equal(replica.shownUntil(), undefined);
  });

  it('serves when it follows the new one', async () => {
    open(ofNew);
    await eventually(() => assert.notEqual(replica.shownUntil(), undefined));
    assert.equal(lines.at(-1)?.event, 'replica.serves');
  });
});
