import assert from 'node:assert/strict';
import { KEY_ACCESS } from '../../shared/accounts/model.js';
import { TOKEN_SYMBOLS } from '../../shared/chains/networks/networks.js';
import { PAYABLE_STATUSES } from '../../shared/payables/states.js';
import { CHANNELS, PAYMENT_STAGES, PAYMENT_STATUSES } from '../../shared/payments/states.js';
import { DELIVERY_STATUSES, ENDPOINT_STATUSES } from '../../shared/webhooks/states.js';
import { openTestApp } from '../support/app.js';
import { forAllTests } from '../support/hooks.js';

/** The code's values by CHECK constraint. A value missing from its constraint would fail the first row that has it. */
const VALUES: Record<string, readonly string[]> = {
  checkout_sessions_status_check: PAYABLE_STATUSES,
  payments_status_check: PAYMENT_STATUSES,
  payments_token_check: TOKEN_SYMBOLS,
  payments_channel_check: CHANNELS,
  payments_stage_check: PAYMENT_STAGES,
  api_keys_access: KEY_ACCESS,
  webhook_endpoints_status_check: ENDPOINT_STATUSES,
  webhook_deliveries_status_check: DELIVERY_STATUSES,
};

describe('the CHECK constraints', () => {
  const app = forAllTests(openTestApp);

  for (const [name, values] of Object.entries(VALUES)) {
    it(`allow exactly the values of the code: ${name}`, async () => {
      const { rows } = await app.db.raw<{ rows: { definition: string }[] }>(
        'SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint WHERE conname = ?',
        [name],
      );
      assert.equal(rows.length, 1);
      const allowed = [...(rows[0]?.definition ?? '').matchAll(/'([^']+)'/g)].map(([, value = '']) => value);
      assert.deepEqual(allowed.sort(), [...values].sort());
    });
  }
});
