import assert from 'node:assert/strict';
import { OPERATIONS } from '../../../lab/chaos/weight/operations.js';
import { UNITS } from '../../support/units/units.js';

/** Units that are loaded elsewhere, or that a client cannot multiply there, each with its reason. */
const WITHOUT_OPERATION: Readonly<Record<string, string>> = {
  FACILITATOR_TIMEOUT_MS: 'all accounts have the same facilitators, the chaos program lets them hang',
  FACILITATOR_SETTLE_TIMEOUT_MS: 'all accounts have the same facilitators, the chaos program lets them hang',
  MAX_FACILITATOR_ANSWER_BYTES: 'all accounts have the same facilitators',
  MAX_REMOVED_BATCH_BYTES: 'the clean-up runs once a day',
  MAX_URL_LOOKUPS: 'endpoints on this machine are allowed there, so that no name is looked up',
  MAX_URL_LOOKUPS_OF_ACCOUNT: 'endpoints on this machine are allowed there, so that no name is looked up',
  MAX_WAITING_RPC_CALLS: 'chain checks belong to payments, and the merchants there have none',
  TABLE_PART_ROWS: 'tables have payments, which the merchants there have not; lab/bench/csv.ts measures one',
};

describe('the heavy operations of the weight program', () => {
  it('go to the bound of every unit, but of those with a reason', () => {
    const loaded = new Set(OPERATIONS.flatMap(({ units }) => units));
    const without = Object.keys(UNITS).filter((name) => !loaded.has(name));
    assert.deepEqual(without.sort(), Object.keys(WITHOUT_OPERATION).sort());
  });

  it('name units of the table', () => {
    for (const { name, units } of OPERATIONS)
      for (const unit of units) assert.ok(unit in UNITS, `${name}: ${unit}`);
  });
});
