import assert from 'node:assert/strict';
import { type SettlementWatch, watchSettlements } from '../../api/payment-link/await-settlement.js';
import { loadConfig } from '../../shared/config/config.js';
import { type Knex, openDatabase } from '../../shared/db/knex.js';
import { createLogger } from '../../shared/process/logger.js';

const LONG_MS = 60_000;

/** Without a database, only a ring can tell. */
describe('the bell of a decided payment', () => {
  let db: Knex;
  let watch: SettlementWatch;
  let ring: (paymentId: string) => void;
  let isStopped = false;
  beforeEach(() => {
    db = openDatabase(loadConfig({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'migrate').database);
    watch = watchSettlements(db, createLogger('silent', 'test'), (listener) => {
      ring = listener;
      return {
        isOn: () => true,
        stop: () => {
          isStopped = true;
        },
      };
    });
  });
  afterEach(async () => {
    watch.close();
    await db.destroy();
  });

  it('wakes everybody who waits for it, and nobody else', async () => {
    let others = 0;
    const other = watch.wait('pay_2', LONG_MS).then(() => {
      others += 1;
    });
    const waiting = [watch.wait('pay_1', LONG_MS), watch.wait('pay_1', LONG_MS)];
    ring('pay_1');
    await Promise.all(waiting);
    assert.equal(others, 0);
    ring('pay_2');
    await other;
  });

  it('is heard by who begins to wait just after it, once', async () => {
    ring('pay_3');
    await watch.wait('pay_3', LONG_MS);
    let again = 0;
    const waiting = watch.wait('pay_3', LONG_MS).then(() => {
      again += 1;
    });
    await new Promise(setImmediate);
    assert.equal(again, 0);
    ring('pay_3');
    await waiting;
  });

  it('is no longer listened for when the process stops, and who waits is let go', async () => {
    const waiting = watch.wait('pay_4', LONG_MS);
    watch.close();
    await waiting;
    assert.equal(isStopped, true);
  });
});
