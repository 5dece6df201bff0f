import assert from 'node:assert/strict';
import { buildMerchant } from '../../../lab/world/shop/factories.js';
import { openTestApp } from '../../support/app.js';
import { forAllTests } from '../../support/hooks.js';
import { caught, coffee, facts, sdk } from '../../support/stripe-sdk.js';

describe('an account that the stock Stripe SDK names', () => {
  const app = forAllTests(() => openTestApp());

  for (const [option, header] of [
    ['stripeAccount', 'Stripe-Account'],
    ['stripeContext', 'Stripe-Context'],
  ] as const) {
    it(`by ${option} is refused when the key is not of it, and nothing is created`, async () => {
      const [owner, other] = [await buildMerchant(app.db), await buildMerchant(app.db)];
      const { sessions } = sdk(owner.testKey, app.port).checkout;
      const named = { [option]: other.accountId };
      const refused = await Promise.all([
        caught(sessions.create({ line_items: [coffee] }, named)),
        caught(sessions.list({}, named)),
      ]);
      for (const error of refused) {
        assert.deepEqual(facts(error), {
          type: 'StripeInvalidRequestError',
          code: 'parameter_invalid',
          param: header,
          statusCode: 400,
        });
      }
      assert.deepEqual((await sessions.list()).data, []);
    });

    it(`by ${option} may be the key's own`, async () => {
      const owner = await buildMerchant(app.db);
      const { sessions } = sdk(owner.testKey, app.port).checkout;
      const { id } = await sessions.create({ line_items: [coffee] }, { [option]: owner.accountId });
      assert.equal((await sessions.retrieve(id, {}, { [option]: '' })).id, id);
    });
  }
});
