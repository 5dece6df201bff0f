import assert from 'node:assert/strict';
import type { Explored } from '../../../lab/explore/policy/breadth-first/search.js';
import { exploreWitnesses } from '../../../lab/explore/policy/witnesses/explore-witnesses.js';
import { WITNESS_MUTANTS } from '../../../lab/explore/policy/witnesses/mutants.js';
import { SCOPES, type Scope } from '../../../lab/explore/policy/witnesses/scopes.js';
import { addToTitle } from '../../support/add-to-title.js';

/** Steps that the model must contain: a promise also holds where no witness fails. */
const MET: readonly RegExp[] = [
  /^\/settle sends a transaction and says rejected, a lie: fail: nothing: reopen/,
  /^\/settle moves the money; the worker is killed/,
  /^\/settle moves the money and says settled: check_again/,
  /^a late endpoint says unused: check_again/,
  /^a limited endpoint says unreadable: check_again/,
  /^a limited endpoint, after a day of silence says unreadable: check_again/,
  /^a day of silence says unreadable: fail: uncertain: expire/,
  /^an endpoint on a fork says unused: fail: nothing: reopen/,
  /^an endpoint without logs says used: check_again/,
  /^an endpoint in its search says searching, \/verify valid: settle_again/,
  /^an endpoint says spent_otherwise: fail: nothing: reopen/,
  /^an endpoint says paid: succeed: keep_as_late/,
  /^an endpoint says paid: succeed: complete_instead/,
  /^an endpoint says paid: succeed: surplus/,
  /^an endpoint says unused: fail: nothing: complete_with_late/,
  /^Postgres' is ahead: too late to call: fail: released/,
  /^the process' is ahead: a late endpoint says unused/,
  /^the standby stops to follow/,
  /^the standby is promoted/,
  /^a call that Postgres has forgotten sends/,
  /^a payload that Postgres has forgotten was signed/,
  /^the same payload comes to the session again, and \/verify says refused; an endpoint says unused: told uncertain/,
  /^the same payload comes to the session again, and \/verify says used; an endpoint says paid: claimed/,
  /^the same payload comes to the refund again, and \/verify says used; an endpoint says paid: claimed/,
  /^the same payload comes to the session again after its time, both are right; an endpoint says paid: claimed/,
  /^a refund is asked for/,
  /^a new payload claims the refund/,
  /^reconcile records a payment: succeed: complete/,
  /^reconcile records a payment: succeed: surplus/,
  /^an operator says failed, an endpoint says unused, both are right: fail: nothing: reopen/,
  /^an operator says failed, by force: fail: uncertain: reopen/,
  /^an operator names the transaction: succeed: complete/,
];

describe('up to three payments and a refund, with witnesses that fail in every order', () => {
  const known = new Map<Scope, Explored>();
  const explored = (scope: Scope): Explored => {
    const result = known.get(scope) ?? exploreWitnesses(scope);
    known.set(scope, result);
    return result;
  };

  for (const scope of Object.values(SCOPES)) {
    it(`tells no buyer what the ledger contradicts, and leaves no money untold: ${scope.name}`, function () {
      const { states, depth, counterexample } = explored(scope);
      assert.equal(counterexample, undefined, counterexample);
      addToTitle(this, `${states.length} states, ${depth} steps deep`);
    });
  }

  it('meets each way in which a witness fails', () => {
    const met = Object.values(SCOPES).flatMap((scope) => [...explored(scope).met]);
    const missing = MET.filter((what) => !met.some((step) => what.test(step)));
    assert.deepEqual(missing, []);
  });

  for (const { name, witness, scope, rules } of WITNESS_MUTANTS) {
    it(`notices that ${witness} is believed too much: ${name}`, function () {
      const { states, counterexample } = exploreWitnesses(scope, rules);
      assert.ok(counterexample !== undefined, `it stayed hidden in ${states.length} states`);
      addToTitle(this, `found among ${states.length} states`);
    });
  }
});
