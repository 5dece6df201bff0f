import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Knex } from 'knex';
import { KEY_ACCESS } from '../../../shared/accounts/model.js';
import { TOKEN_SYMBOLS } from '../../../shared/chains/networks/networks.js';
import { PAYABLE_STATUSES } from '../../../shared/payables/states.js';
import { CHANNELS, PAYMENT_STAGES, PAYMENT_STATUSES } from '../../../shared/payments/states.js';
import { DELIVERY_STATUSES, ENDPOINT_STATUSES } from '../../../shared/webhooks/states.js';

const FOLDER = path.join(import.meta.dirname, '..', '..', '..', 'migrations');

/** `table.column` and the values that the code writes. `test/db/check-constraints.spec.ts` reads them from Postgres. */
const VALUES: Record<string, readonly string[]> = {
  'payments.token': TOKEN_SYMBOLS,
  'payments.status': PAYMENT_STATUSES,
  'payments.channel': CHANNELS,
  'payments.stage': PAYMENT_STAGES,
  'api_keys.access': KEY_ACCESS,
  'checkout_sessions.status': PAYABLE_STATUSES,
  'webhook_endpoints.status': ENDPOINT_STATUSES,
  'webhook_deliveries.status': DELIVERY_STATUSES,
};

/** The statements of all migrations, in their order. */
async function statements(): Promise<string[]> {
  const all: string[] = [];
  const knex = {
    async raw(text: string) {
      all.push(text);
      return { rows: [] };
    },
  } as unknown as Knex;
  for (const file of readdirSync(FOLDER)
    .filter((name) => /^\d/.test(name))
    .sort()) {
    const { up }: Knex.Migration = await import(path.join(FOLDER, file));
    await up(knex);
  }
  return all;
}

/** The values of a column's newest CHECK. */
function allowed(all: readonly string[], table: string, column: string): string[] | undefined {
  const ofTable = all.filter((text) => new RegExp(`\\b(CREATE|ALTER) TABLE ${table}\\b`).test(text));
  const checks = ofTable.flatMap((text) => [
    ...text.matchAll(new RegExp(`CHECK \\(${column} IN \\(([^)]*)\\)`, 'g')),
  ]);
  const [, values] = checks.at(-1) ?? [];
  return values === undefined ? undefined : [...values.matchAll(/'([^']+)'/g)].map(([, value = '']) => value);
}

describe('the values that the migrations allow', () => {
  let all: string[];
  before(async () => {
    all = await statements();
  });

  for (const [name, values] of Object.entries(VALUES)) {
    it(`include all values of ${name}`, () => {
      const [table = '', column = ''] = name.split('.');
      const taken = allowed(all, table, column) ?? assert.fail(`no migration has a check of ${name}`);
      const missing = values.filter((value) => !taken.includes(value));
      assert.deepEqual(missing, [], `no migration allows this in ${name}: every such row would be a 500`);
    });
  }
});
