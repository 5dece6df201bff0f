import assert from 'node:assert/strict';
import type { ChainFinding } from '../../../shared/chains/finding.js';
import { afterLook, afterProofTaken } from '../../../shared/settlement/policy/after-look.js';
import type { WatchedPayment } from '../../../shared/settlement/policy/standing.js';
import { at, inDoubt, RULES, times } from './a-payment.js';
import { HASH, inShort, MINUTE, SILENT, USED } from './look-rows.js';

describe('what a look has learnt', () => {
  const learntOf = (finding: ChainFinding, payment: WatchedPayment): unknown => {
    const decision = afterLook(payment, { finding, isValid: false }, RULES, times());
    return 'learnt' in decision && decision.learnt;
  };
  const known = inDoubt({
    searchPlace: { block: 1 },
    usedSeenAt: at(-MINUTE),
    unreadableSince: at(-5000),
    unusedSeenAt: at(-5000),
  });

  it('of a silence: since when; what was known stays', () => {
    const { searchPlace, usedSeenAt } = known;
    assert.deepEqual(learntOf(SILENT, known), {
      unreadableSince: at(-5000),
      searchPlace,
      usedSeenAt,
      unusedSeenAt: null,
    });
    assert.deepEqual(learntOf(SILENT, inDoubt()), {
      unreadableSince: at(0),
      searchPlace: null,
      usedSeenAt: null,
      unusedSeenAt: null,
    });
  });

  it('of what waits: that the chain can be read', () => {
    const { searchPlace, usedSeenAt } = known;
    const learnt = { unreadableSince: null, searchPlace, usedSeenAt, unusedSeenAt: null };
    assert.deepEqual(learntOf({ kind: 'pending', transaction: HASH }, known), learnt);
  });

  it('of a use that is not explained: since when, and where to go on', () => {
    const place = { block: 9 };
    const learnt = { unreadableSince: null, searchPlace: place, usedSeenAt: at(-MINUTE), unusedSeenAt: null };
    assert.deepEqual(learntOf({ ...USED, place }, known), learnt);
  });

  it('when the transfer proved another payment: that this one is still to be found', () => {
    const decision = afterProofTaken(known, HASH, times());
    assert.equal(decision.kind, 'look_again');
    assert.equal(decision.said.source, 'service');
  });

  it('pauses longer from look to look, up to half a minute', () => {
    const pauses = [2, 3, 4, 5, 6, 7].map(
      (attempt) => inShort({ what: '', finding: USED, payment: inDoubt({ attempt }), says: [] })[1],
    );
    assert.deepEqual(
      pauses,
      [2, 4, 8, 15, 30, 30].map((seconds) => at(seconds * 1000)),
    );
  });
});
