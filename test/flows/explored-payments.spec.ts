import assert from 'node:assert/strict';
import { explore } from '../../lab/explore/explore.js';
import { MISTAKES } from '../../lab/explore/mistakes.js';
import { openStage, type Stage } from '../../lab/explore/stage/stage.js';
import { createMigratedDatabase } from '../support/suite.js';

/** Another seed makes other stories. */
const SEED = Number(process.env.EXPLORE_SEED ?? '20261123');
/** What `npm run explore` does in a few seconds, and the suite on a busy machine in less than a minute. */
const STORIES = 150;
const WITHIN_MS = 120_000;
/** The most that a mistake may stay hidden. */
const STORIES_FOR_A_MISTAKE = 400;
/** Of the stories in which mistakes are looked for: what is shown is that they are found. */
const MISTAKES_SEED = 7;

describe('payments in virtual time, whatever comes together', function () {
  this.timeout(240_000);
  let stage: Stage;
  before(async () => {
    stage = await openStage(await createMigratedDatabase('explored'));
  });
  after(() => stage.close());

  it(`leave books that agree, and nobody hears "no" whose money moved (EXPLORE_SEED=${SEED})`, async () => {
    const { failure, counts } = await explore(stage, { trials: STORIES, seed: SEED, withinMs: WITHIN_MS });
    assert.equal(failure, undefined, failure);
    for (const what of ['movements of money', 'failed, then paid', 'look: used', '/settle: hung up'])
      assert.ok((counts.get(what) ?? 0) > 0, `there was no "${what}"`);
  });

  for (const mistake of MISTAKES) {
    it(`are not kept so when ${mistake.name}`, async () => {
      const { failure } = await explore(stage, {
        trials: STORIES_FOR_A_MISTAKE,
        seed: MISTAKES_SEED,
        mistake,
        isHasty: true,
      });
      assert.ok(failure !== undefined, `it stayed hidden in ${STORIES_FOR_A_MISTAKE} stories`);
    });
  }
});
