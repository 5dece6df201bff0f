import assert from 'node:assert/strict';
import { type Budget, LEAVE_A_QUARTER, LEAVE_HALF, openBudget } from '../../../shared/limits/budget.js';

/** How many amounts of 1 the holders get. */
function takeAll(budget: Budget, ...holders: string[]): number {
  let taken = 0;
  while (taken < 100 && budget.take(1, ...holders) !== undefined) taken += 1;
  return taken;
}

describe('a budget', () => {
  it('grants at most the total, and at most its limit to a holder', () => {
    const budget = openBudget({ total: 10, perHolder: [6] });
    assert.ok(budget.take(6, 'a'));
    assert.equal(budget.take(1, 'a'), undefined);
    assert.equal(budget.take(5, 'b'), undefined);
    assert.ok(budget.take(4, 'b'));
    assert.equal(budget.take(1, 'c'), undefined);
    assert.ok(budget.take(0, 'c'));
    assert.deepEqual([budget.used, budget.left, budget.usedBy('a')], [10, 0, 6]);
  });

  it('gets an amount back once, however often it is released', () => {
    const budget = openBudget({ total: 10, perHolder: [10] });
    const release = budget.take(10, 'a') ?? assert.fail();
    release();
    release();
    assert.ok(budget.take(10, 'b'));
    assert.equal(budget.take(1, 'b'), undefined);
  });

  it('may leave as much to others as a holder has', () => {
    const budget = openBudget({ total: 10, perHolder: [10], dynamicThreshold: LEAVE_HALF });
    const taken = ['a', 'b', 'c', 'd', 'e'].map((holder) => takeAll(budget, holder));
    assert.deepEqual(taken, [5, 3, 1, 1, 0]);
    assert.equal(budget.left, 0);
    const large = openBudget({ total: 10, perHolder: [10], dynamicThreshold: LEAVE_HALF });
    assert.ok(large.take(8, 'a'), 'a first amount may be all that is left');
    assert.equal(large.take(1, 'a'), undefined);
    assert.ok(large.take(1, 'b'));
  });

  it('may leave a part to other networks, and within a network a part to other accounts', () => {
    const budget = openBudget({ total: 100, perHolder: [100, 100], dynamicThreshold: LEAVE_A_QUARTER });
    const ofAccounts = ['x', 'y', 'z'].map((account) => takeAll(budget, 'a', `a ${account}`));
    const ofNetworks = ['b', 'c', 'd'].map((network) => takeAll(budget, network, `${network} x`));
    assert.deepEqual(
      [ofAccounts, ofNetworks],
      [
        [57, 14, 3],
        [15, 6, 2],
      ],
    );
    assert.ok(budget.left > 0);
  });

  it('leaves the last to others, and gives a first one to each holder', () => {
    const budget = openBudget({ total: 2, perHolder: [2], dynamicThreshold: LEAVE_A_QUARTER });
    assert.ok(budget.take(1, 'a'));
    assert.equal(budget.take(1, 'a'), undefined);
    assert.ok(budget.take(1, 'b'));
    assert.equal(budget.take(1, 'c'), undefined);
  });

  it('limits each kind of holder separately', () => {
    const budget = openBudget({ total: 10, perHolder: [3, 2] });
    for (const host of ['x', 'x', 'y']) assert.ok(budget.take(1, 'a', host));
    assert.equal(budget.fits(1, 'a', 'z'), false, 'the account has three');
    assert.equal(budget.fits(1, 'b', 'x'), false, 'the host has two');
    const release = budget.take(1, 'b', 'y') ?? assert.fail();
    release();
    assert.equal(budget.fits(2, 'b', 'y'), false);
    assert.equal(budget.fits(1, 'b', 'y'), true);
  });

  it('without holders has only a total, which may change', () => {
    let total = 2;
    const budget = openBudget({ total: () => total });
    const releases = [budget.take(1), budget.take(1)];
    assert.equal(budget.take(1), undefined);
    total = 1;
    assert.equal(budget.left, -1);
    releases[0]?.();
    assert.equal(budget.take(1), undefined);
    releases[1]?.();
    assert.ok(budget.take(1));
  });

  it('grows a claim by the whole amount or not at all, and counts nothing after its release', () => {
    const budget = openBudget({ total: 10, perHolder: [6] });
    const claim = budget.claim('a');
    assert.equal(budget.used, 0);
    assert.equal(claim.growTo(4), true);
    assert.equal(claim.growTo(7), false);
    assert.deepEqual([budget.used, budget.usedBy('a')], [4, 4]);
    assert.equal(claim.growTo(6), true);
    claim.release();
    claim.release();
    assert.deepEqual([budget.used, budget.usedBy('a')], [0, 0]);
    assert.equal(claim.growTo(1), false);
  });
});
