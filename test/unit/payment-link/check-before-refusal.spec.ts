import assert from 'node:assert/strict';
import { checkBeforeRefusal, type DoubtedRefusal } from '../../../api/payment-link/check-before-refusal.js';
import type { PaymentQuery } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { MAX_PAGE_RPC_CALLS } from '../../../shared/limits/bounds.js';
import { correctClock, nowMs } from '../../../shared/process/clock.js';
import { createLogger } from '../../../shared/process/logger.js';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { BASE_SEPOLIA, buildEvmQuery, USDC } from '../chains/evm-payment.js';

const HANGING = 'eip155:80002';
const UNREADABLE: ChainFinding = { kind: 'unreadable', reason: 'timeout' };

/** A facilitator called the payload used. */
function refusalOn(network: string): DoubtedRefusal {
  const { payTo, amount, from, nonce, validBefore } = buildEvmQuery({ network });
  return {
    session: 'cs_test_1',
    requirements: {
      scheme: 'exact',
      network,
      amount: String(amount),
      asset: USDC,
      payTo,
      maxTimeoutSeconds: 300,
      extra: { name: 'USDC', version: '2' },
    },
    proof: {
      family: 'evm',
      from: from as `0x${string}`,
      to: payTo as `0x${string}`,
      value: amount,
      validAfter: 0n,
      validBefore,
      nonce: nonce as `0x${string}`,
      signature: '0x',
    },
    failure: { code: 'invalid_transaction_state', reason: 'used', message: 'Used.', class: 'settled_before' },
    saysUsed: true,
  };
}

function depsWith(
  check: (query: PaymentQuery) => Promise<ChainFinding>,
): Parameters<typeof checkBeforeRefusal>[0] {
  return {
    chains: () => Promise.resolve({ check }),
    logger: createLogger('silent', 'test'),
    commits: { mayHaveLost: () => false },
    references: { nonceOf: () => '0x' as const, memoOf: () => '', read: () => undefined },
  };
}

function unusedAt(ageMs: number, exhausted = false): ChainFinding {
  return { kind: 'unused', chainTime: new Date(nowMs() - ageMs), exhausted };
}

describe('chain checks before refusals', () => {
  it('find a slot for another network while the endpoint of one hangs', async () => {
    const { promise: failed, resolve: fail } = withResolvers();
    let asked = 0;
    const check = async ({ network }: PaymentQuery): Promise<ChainFinding> => {
      if (network !== HANGING) return unusedAt(0);
      asked += 1;
      await failed;
      return UNREADABLE;
    };
    const deps = depsWith(check);
    const hanging = Array.from({ length: 2 * MAX_PAGE_RPC_CALLS }, () =>
      checkBeforeRefusal(deps, refusalOn(HANGING)),
    );
    const refusal = refusalOn(BASE_SEPOLIA);
    assert.deepEqual(await checkBeforeRefusal(deps, refusal), { kind: 'refused', failure: refusal.failure });
    assert.ok(asked > MAX_PAGE_RPC_CALLS / 2, `${asked} checks`);
    fail();
    for (const answer of await Promise.all(hanging))
      assert.ok(answer.kind === 'refused' && answer.failure.isUncertain === true);
  });

  for (const { title, seen, saysUsed, isCertain } of [
    { title: 'a block of now', seen: () => unusedAt(5000), saysUsed: true, isCertain: true },
    { title: 'a block of two minutes ago', seen: () => unusedAt(120_000), saysUsed: true, isCertain: false },
    {
      title: 'a block that a clock far ahead of ours has dated',
      seen: () => unusedAt(-60_000),
      saysUsed: true,
      isCertain: false,
    },
    { title: 'a block after its end', seen: () => unusedAt(120_000, true), saysUsed: true, isCertain: true },
    {
      title: 'a block of two minutes ago, and the word does not say used',
      seen: () => unusedAt(120_000),
      saysUsed: false,
      isCertain: true,
    },
  ])
    it(`${isCertain ? 'confirm' : 'do not confirm'} it where the payload is unused in ${title}`, async () => {
      const refusal = { ...refusalOn(BASE_SEPOLIA), saysUsed };
      const answer = await checkBeforeRefusal(
        depsWith(async () => seen()),
        refusal,
      );
      assert.equal(answer.kind === 'refused' && answer.failure.isUncertain !== true, isCertain);
    });

  describe("where Postgres' clock is a minute ahead of the host's", () => {
    const setAhead = (aheadMs: number): void => correctClock(aheadMs, { askedAtMs: 0, answeredAtMs: 0 });
    before(() => setAhead(60_000));
    after(() => setAhead(0));

    it('do not confirm it by a block that is ahead of the host alone', async () => {
      const answer = await checkBeforeRefusal(
        depsWith(async () => unusedAt(15_000)),
        refusalOn(BASE_SEPOLIA),
      );
      assert.equal(answer.kind === 'refused' && answer.failure.isUncertain, true);
    });
  });
});
