import assert from 'node:assert/strict';
import { buildMerchant, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { withObservation } from '../../shared/payments/history.js';
import { Payment } from '../../shared/payments/model.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

describe("a payment's history", () => {
  const app = forAllTests(openTestApp);
  let id: string;

  before(async () => {
    const { accountId } = await buildMerchant(app.db);
    id = (await buildUndecidedPayment(app.db, accountId)).payment.id;
  });

  const observe = async (said: string): Promise<unknown> =>
    await Payment.query(app.db)
      .patch({ history: withObservation({ source: 'chain', said }) as never })
      .where({ id });
  const read = async (): Promise<string[]> =>
    (await Payment.query(app.db).findById(id).throwIfNotFound()).history.map(({ said }) => said);

  it('has an entry once while nothing changes', async () => {
    await observe('0');
    await observe('0');
    assert.deepEqual(await read(), ['0']);
  });

  it('keeps its first hundred entries and its newest hundred', async () => {
    for (let number = 1; number < 230; number += 1) await observe(String(number));
    const numbers = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, index) => String(from + index));
    assert.deepEqual(await read(), [...numbers(0, 100), ...numbers(130, 230)]);
  });
});
