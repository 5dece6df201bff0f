import assert from 'node:assert/strict';
import { failsToSettle, slow } from '../../../lab/world/facilitator/dial.js';
import { type FakeFacilitator, startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { loadConfig } from '../../../shared/config/config.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { openFacilitators } from '../../../shared/startup/open-facilitators.js';
import { countCallers } from '../../../shared/upkeep/facilitator-callers.js';
import { createMigratedDatabase } from '../../support/suite.js';
import { entryFor } from '../../unit/x402/offers.js';

describe("a process's connections to the facilitator", () => {
  const LIMIT = 8;
  const offered = entryFor('eip155:84532');
  const networks = ['eip155:84532', 'eip155:8453', 'eip155:196', 'eip155:1952'];
  const other = { id: '00000000-0000-0000-0000-000000000001', kind: 'worker' } as const;
  let fake: FakeFacilitator;
  let db: ReturnType<typeof openDatabase>;
  let facilitator: ReturnType<typeof openFacilitators> | undefined;

  async function open(kind: 'web' | 'worker', databaseUrl: string): Promise<void> {
    fake = await startFacilitator();
    fake.verify.always(slow(50));
    const config = loadConfig(
      {
        DATABASE_URL: databaseUrl,
        FACILITATOR_URL: fake.url,
        FACILITATOR_MAX_CONNECTIONS: String(LIMIT),
      },
      'cli',
    );
    db = openDatabase(config.database);
    if (kind === 'worker') await countCallers(db, other);
    const stores = { db, redis: undefined, breaker: undefined };
    facilitator = openFacilitators(config.facilitators, kind, stores, createLogger('silent', 'test'));
  }

  afterEach(async () => {
    await facilitator?.close();
    facilitator = undefined;
    await fake.close();
    await db.destroy();
  });

  /** Verifies on several networks, of which one alone may not have all connections. */
  async function mostConnections(): Promise<number> {
    const calls = Array.from({ length: 2 * LIMIT }, (_, n) =>
      facilitator?.verify({
        paymentRequirements: { ...offered, network: networks[n % networks.length] },
      } as never),
    );
    await Promise.all(calls);
    assert.equal(fake.calls.verify.length % calls.length, 0);
    return fake.edge.mostConnections;
  }

  it("are its kind's part, also before a process of the other kind is known", async () => {
    await open('web', await createMigratedDatabase('connections_web'));
    assert.equal(await mostConnections(), 2);
  });

  it('are one until the others of its kind have given up their old shares, then its share', async () => {
    await open('worker', await createMigratedDatabase('connections_worker'));
    assert.equal(await mostConnections(), 1);
    await eventually(async () => {
      await countCallers(db, other);
      assert.equal(await mostConnections(), 3);
    });
  });

  it('stay its share while the others register again with a Postgres that forgot them in a failover', async () => {
    await open('web', await createMigratedDatabase('connections_forgotten'));
    const beside = { ...other, kind: 'web' } as const;
    await hasCounted();
    await countCallers(db, beside);
    await hasCounted();
    assert.equal(await mostConnections(), 1);
    await db('facilitator_callers').truncate();
    await hasCounted();
    assert.equal(await mostConnections(), 1);
    await eventually(async () => assert.equal(await mostConnections(), 2));
  });

  it('grow for a call that waits, while the only one is held by a call that hangs', async () => {
    await open('worker', await createMigratedDatabase('connections_held'));
    fake.settle.always(failsToSettle('invalid_network'));
    fake.settle.next(slow(60_000));
    const settle = () => facilitator?.settleBy(null, { paymentRequirements: offered } as never);
    void settle();
    assert.equal((await settle())?.kind, 'rejected');
    assert.equal(fake.calls.settle.length, 2);
  });

  async function hasCounted(): Promise<void> {
    const { rows } = await db.raw('SELECT clock_timestamp() AS since');
    await eventually(async () => {
      const seen = db('facilitator_callers').whereNot({ id: other.id });
      assert.equal((await seen.where('seen_at', '>', rows[0].since)).length, 1);
    });
  }
});
