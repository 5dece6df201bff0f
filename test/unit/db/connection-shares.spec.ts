import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { Busy } from '../../../shared/db/busy.js';
import { openConnectionShares } from '../../../shared/db/connection-shares.js';
import { openDatabase } from '../../../shared/db/knex.js';
import { POOL_WAITING, POOL_WAITING_OF_ACCOUNT } from '../../../shared/limits/bounds.js';

const WAIT_MS = 60_000;

describe('requests that wait for a connection to Postgres', () => {
  const db = openDatabase({
    url: 'postgres://nowhere.invalid/none',
    poolSize: 1,
    verifyTls: false,
    preparedStatements: false,
    queryTimeoutMs: 1000,
  });
  // The only connection is in use: nothing reaches Postgres.
  db.client.acquireConnection = () => new Promise(() => {});
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => {
    mock.timers.tick(WAIT_MS);
    mock.timers.reset();
  });
  after(() => db.destroy());

  /** The refusals of so many requests, after all have had their turn. */
  async function ask(of: ReturnType<typeof openConnectionShares>['of'], account: string, requests: number) {
    let refused = 0;
    for (let n = 0; n < requests; n += 1)
      of(account)
        .client.acquireConnection()
        .catch((error: unknown) => {
          assert.ok(error instanceof Busy);
          refused += 1;
        });
    await new Promise((resolve) => setImmediate(resolve));
    return refused;
  }

  const open = () => openConnectionShares(db, 1, { waitMs: WAIT_MS, lockTimeoutMs: 1 }).of;

  it('are a limited number of one account', async () => {
    const of = open();
    assert.equal(await ask(of, 'first', 1), 0);
    assert.equal(await ask(of, 'hog', POOL_WAITING_OF_ACCOUNT), 0);
    assert.equal(await ask(of, 'hog', 1), 1);
    assert.equal(await ask(of, 'other', 1), 0);
  });

  it('are a limited number of all accounts', async () => {
    const of = open();
    assert.equal(await ask(of, 'first', 1), 0);
    for (let waiting = 0; waiting < POOL_WAITING; waiting += POOL_WAITING_OF_ACCOUNT)
      assert.equal(await ask(of, `hog ${waiting}`, POOL_WAITING_OF_ACCOUNT), 0);
    assert.equal(await ask(of, 'other', 1), 1);
  });
});
