import assert from 'node:assert/strict';
import { MUTANTS } from '../../../lab/explore/policy/mutants.js';
import { explore } from '../../../lab/explore/policy/search/explore.js';
import { PLAIN } from '../../../lab/explore/policy/setting/setting.js';
import { addToTitle } from '../../support/add-to-title.js';

describe('a mutant of the policy of a payment breaks a promise:', () => {
  for (const { name, setting, policy } of MUTANTS) {
    it(name, function () {
      const { states, counterexample } = explore(setting, policy);
      assert.ok(counterexample !== undefined, `it stayed hidden in ${states.length} states`);
      addToTitle(this, `found among ${states.length} states`);
    });
  }

  it('in a counterexample that names the rows that decided', () => {
    const mutant = MUTANTS.find(({ name }) => name === 'a refusal is believed after an unclear call');
    const { counterexample } = explore(PLAIN, mutant?.policy);
    assert.match(counterexample ?? '', /: fail: .* \[answer-rejected-4, failure-processing-3\]$/m);
    assert.match(
      counterexample ?? '',
      /^ {2}row answer-rejected-4: otherwise → fail with the refusal's code/m,
    );
  });
});
