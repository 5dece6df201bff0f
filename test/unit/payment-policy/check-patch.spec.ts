import assert from 'node:assert/strict';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { afterCheck, afterProofTaken } from '../../../shared/settlement/policy/after-check.js';
import type { WatchedPayment } from '../../../shared/settlement/policy/payment-state.js';
import { at, SETTINGS, times, unclearPayment } from './a-payment.js';
import { HASH, inShort, MINUTE, paid, SEARCHING, SILENT, USED, unused } from './check-rows.js';

describe('the patch after a check', () => {
  const patchOf = (finding: ChainFinding, payment: WatchedPayment): unknown => {
    const decision = afterCheck(
      payment,
      { finding, isValid: false, commitsMayBeLost: false },
      SETTINGS,
      times(),
    );
    return 'patch' in decision && decision.patch;
  };
  const known = unclearPayment({
    searchPlace: { block: 1 },
    usedSeenAt: at(-MINUTE),
    unreadableSince: at(-5000),
    unusedSeenAt: at(-5000),
  });

  it('of an unreadable chain keeps what was found, and says since when it is unreadable', () => {
    const { searchPlace, usedSeenAt } = known;
    assert.deepEqual(patchOf(SILENT, known), {
      unreadableSince: at(-5000),
      searchPlace,
      usedSeenAt,
      unusedSeenAt: null,
    });
    assert.deepEqual(patchOf(SILENT, unclearPayment()), {
      unreadableSince: at(0),
      searchPlace: null,
      usedSeenAt: null,
      unusedSeenAt: null,
    });
  });

  it('of a pending transaction keeps what was found, and says that the chain is readable', () => {
    const { searchPlace, usedSeenAt } = known;
    const patch = { unreadableSince: null, searchPlace, usedSeenAt, unusedSeenAt: null };
    assert.deepEqual(patchOf({ kind: 'pending', transaction: HASH }, known), patch);
  });

  it('of a use that is not explained: since when, and where to go on', () => {
    const position = { block: 9 };
    const patch = {
      unreadableSince: null,
      searchPlace: position,
      usedSeenAt: at(-MINUTE),
      unusedSeenAt: null,
    };
    assert.deepEqual(patchOf({ ...USED, position }, known), patch);
  });

  it('of a check that leaves a failed payment open says since when, until one sees it unused', () => {
    const sinceAfter = (finding: ChainFinding, unreadableSince: Date | null): unknown => {
      const patch = patchOf(
        finding,
        unclearPayment({ status: 'failed', failedAt: at(-MINUTE), unreadableSince }),
      );
      return (
        typeof patch === 'object' && patch !== null && 'unreadableSince' in patch && patch.unreadableSince
      );
    };
    for (const finding of [USED, SEARCHING, SILENT, { kind: 'pending', transaction: HASH } as const]) {
      assert.deepEqual(sinceAfter(finding, null), at(0), finding.kind);
      assert.deepEqual(sinceAfter(finding, at(-5000)), at(-5000), finding.kind);
    }
    assert.equal(sinceAfter(unused(0), at(-5000)), null);
  });

  it('keeps a use that was seen, until a later block lacks it', () => {
    const usedAfter = (finding: ChainFinding, usedSeenAt: Date | null): unknown => {
      const payment = unclearPayment({ settleCalls: 6, usedSeenAt });
      const patch = patchOf(finding, payment);
      return typeof patch === 'object' && patch !== null && 'usedSeenAt' in patch && patch.usedSeenAt;
    };
    for (const finding of [paid(0), USED, { kind: 'pending', transaction: HASH } as const])
      assert.deepEqual(usedAfter(finding, null), at(0), finding.kind);
    for (const finding of [SEARCHING, SILENT, paid(0), unused(-500)])
      assert.deepEqual(usedAfter(finding, at(-500)), at(-500), finding.kind);
    assert.equal(usedAfter(unused(-499), at(-500)), null);
  });

  it('of a transfer that proves another payment starts the search anew', () => {
    const decision = afterProofTaken(known, HASH, times());
    assert.equal(decision.kind, 'check_again');
    assert.equal(decision.said.source, 'service');
  });

  it("that sends it again clears a recorded refusal, which was the earlier call's", () => {
    const refused = unclearPayment({ failureCode: 'insufficient_funds' });
    const again = afterCheck(
      refused,
      { finding: SILENT, isValid: true, commitsMayBeLost: false },
      SETTINGS,
      times(),
    );
    assert.equal(again.kind === 'settle_again' && again.patch.failureCode, null);
    const waiting = afterCheck(
      refused,
      { finding: SILENT, isValid: false, commitsMayBeLost: false },
      SETTINGS,
      times(),
    );
    assert.equal(waiting.kind === 'check_again' && 'failureCode' in waiting.patch, false);
  });

  it('comes with pauses that grow from check to check, up to half a minute', () => {
    const pauses = [2, 3, 4, 5, 6, 7].map(
      (attempt) => inShort({ what: '', finding: USED, payment: unclearPayment({ attempt }), says: [] })[1],
    );
    assert.deepEqual(
      pauses,
      [2, 4, 8, 15, 30, 30].map((seconds) => at(seconds * 1000)),
    );
  });
});
