import assert from 'node:assert/strict';
import { type SettlementWatch, watchSettlements } from '../../../api/payment-link/watch-settlements.js';
import { loadConfig } from '../../../shared/config/config.js';
import { type Knex, openDatabase } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';

const LONG_MS = 60_000;

/** The stub has no database, so only a notification can end a wait. */
describe('the notification of a decided payment', () => {
  let db: Knex;
  let watch: SettlementWatch;
  let notify: (paymentId: string) => void;
  let isStopped = false;
  beforeEach(() => {
    db = openDatabase(loadConfig({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'migrate').database);
    watch = watchSettlements(db, createLogger('silent', 'test'), (listener) => {
      notify = listener;
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

  it('wakes all callers that wait for this payment, and no others', async () => {
    let others = 0;
    const other = watch.wait('pay_2', LONG_MS).then(() => {
      others += 1;
    });
    const waiting = [watch.wait('pay_1', LONG_MS), watch.wait('pay_1', LONG_MS)];
    notify('pay_1');
    await Promise.all(waiting);
    assert.equal(others, 0);
    notify('pay_2');
    await other;
  });

  it('wakes a caller that starts to wait just after it, once', async () => {
    notify('pay_3');
    await watch.wait('pay_3', LONG_MS);
    let again = 0;
    const waiting = watch.wait('pay_3', LONG_MS).then(() => {
      again += 1;
    });
    await new Promise(setImmediate);
    assert.equal(again, 0);
    notify('pay_3');
    await waiting;
  });

  it('is no longer received when the process stops, and waiting callers are released', async () => {
    const waiting = watch.wait('pay_4', LONG_MS);
    watch.close();
    await waiting;
    assert.equal(isStopped, true);
  });
});
