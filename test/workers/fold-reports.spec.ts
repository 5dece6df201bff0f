import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { buildPaidSession } from '../../lab/world/shop/factories.js';
import { Payment } from '../../shared/payments/model.js';
import { foldReportsRegularly } from '../../workers/process/fold-reports.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';
import { assertWholeReport } from '../support/report-sums.js';
import { buildShop } from '../support/shop.js';
import { createMigratedDatabase } from '../support/suite.js';

describe('a worker folds the entries of reports', () => {
  const app = forAllTests(async () =>
    openTestApp({ DATABASE_URL: await createMigratedDatabase('fold_reports') }),
  );
  const shop = forAllTests(() => buildShop(app));

  const entries = async (): Promise<unknown[]> => await app.db('reportEntries');

  it('into totals, beside another worker, and goes on after a failure', async () => {
    for (let i = 0; i < 20; i += 1)
      await buildPaidSession(app.db, shop.accountId, {
        settledAt: new Date(`2026-08-${10 + (i % 5)}T${10 + (i % 4)}:00:00Z`),
      });
    const failures: unknown[] = [];
    const logger = Object.assign(Object.create(app.logger), { error: (line: object) => failures.push(line) });
    await app.db.raw('ALTER TABLE report_totals RENAME TO away');
    const workers = [1, 2].map(() => foldReportsRegularly({ db: app.db, logger }, 10));
    await eventually(() => assert.notEqual(failures.length, 0));
    assert.equal((await entries()).length, 20);
    await app.db.raw('ALTER TABLE away RENAME TO report_totals');
    await eventually(async () => assert.deepEqual(await entries(), []));
    await Promise.all(workers.map((worker) => worker.close()));
    const rowsOf = async (span: number) => (await app.db('reportTotals').where({ span })).length;
    assert.deepEqual([await rowsOf(1440), await rowsOf(60), await rowsOf(15)], [5, 20, 20]);
    await assertWholeReport(shop.test, app.db, shop.accountId);
    const [payment] = await Payment.query(app.db).limit(1);
    await payment?.$query(app.db).patch({ surplus: true });
    assert.equal((await entries()).length, 2, 'a closed worker folds no more');
    await assertWholeReport(shop.test, app.db, shop.accountId);
  });
});
