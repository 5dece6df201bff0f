import assert from 'node:assert/strict';
import { MUTANTS } from '../../lab/explore/mutants/mutants.js';
import { explore } from '../../lab/explore/run/explore.js';
import { openSystem, type System } from '../../lab/explore/system/system.js';
import { createMigratedDatabase } from '../support/suite.js';

const SEED = Number(process.env.EXPLORE_SEED ?? '20261123');
/** As many trials as `npm run explore` runs in a few seconds, and a busy machine in less than a minute. */
const TRIALS = 150;
const WITHIN_MS = 120_000;
/** A mutant must be found within this many trials. */
const TRIALS_FOR_A_MUTANT = 400;
/** The seed for the runs with mutants. */
const MUTANTS_SEED = 7;

describe('payments in virtual time, with faults and races in random order', function () {
  this.timeout(240_000);
  let system: System;
  before(async () => {
    system = await openSystem(await createMigratedDatabase('explored'));
  });
  after(() => system.close());

  it(`are decided as the facilitator's ledger says, and no buyer whose money moved is refused (EXPLORE_SEED=${SEED})`, async () => {
    const { failure, counts } = await explore(system, { trials: TRIALS, seed: SEED, withinMs: WITHIN_MS });
    assert.equal(failure, undefined, failure);
    for (const what of ['movements of money', 'failed, then paid', 'chain check: used', '/settle: hung up'])
      assert.ok((counts.get(what) ?? 0) > 0, `there was no "${what}"`);
  });

  for (const mutant of MUTANTS) {
    it(`are found to be wrong by the checks when ${mutant.name}`, async () => {
      const { failure } = await explore(system, {
        trials: TRIALS_FOR_A_MUTANT,
        seed: MUTANTS_SEED,
        mutant,
        stopsAtFirst: true,
      });
      assert.ok(failure !== undefined, `the mutant was not found in ${TRIALS_FOR_A_MUTANT} trials`);
    });
  }
});
