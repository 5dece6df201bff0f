import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { createChains } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import { forEachTest } from '../../support/hooks.js';
import { assertFound, assertPaid, assertUnreadable, FAULTS } from './assert-found.js';
import { buildEvmQuery } from './evm-payment.js';
import { UNPACED } from './unpaced.js';

describe('an EVM endpoint', () => {
  const chain = forEachTest(() => EvmChain.start(84532));
  const chains = forEachTest(() =>
    createChains(new Map([['EIP155_84532', chain.endpoint.url]]), {
      pace: UNPACED,
      // A hundred calls of one check take more than its usual 10 s on a very busy machine.
      checkTimeoutMs: 120_000,
    }),
  );
  const payment = forEachTest(buildEvmQuery);

  afterEach(resetClock);

  const assertUsed = (finding: Promise<ChainFinding>, reason: RegExp): Promise<void> =>
    assertFound('used', finding, reason);

  const methods = ['eth_chainId', 'eth_getBlockByNumber', 'eth_call'];
  const methodsOfTheSearch = ['eth_getTransactionReceipt', 'eth_getLogs'];
  for (const [fault, reason] of FAULTS) {
    for (const method of methods) {
      it(`that fails with ${fault} at ${method} is unreadable, and shows the payment when it recovers`, async () => {
        const transaction = chain.movePayment(payment);
        chain.endpoint.fail(fault, method);
        await assertUnreadable(chains.check(payment), reason);
        chain.endpoint.recover();
        assert.equal((await chains.check({ ...payment, transactionHint: transaction })).kind, 'paid');
      });
    }

    for (const method of methodsOfTheSearch) {
      it(`that fails with ${fault} at ${method} shows the nonce used, and the payment when it recovers`, async () => {
        const transaction = chain.movePayment(payment);
        chain.endpoint.fail(fault, method);
        await assertUsed(chains.check(payment), reason);
        chain.endpoint.recover();
        assert.equal((await chains.check(payment)).kind, 'paid');
        chain.endpoint.fail(fault, 'eth_getTransactionReceipt');
        await assertUsed(chains.check({ ...payment, transactionHint: transaction }), /./);
      });
    }

    it(`that fails with ${fault} at the receipt of a hint is queried for the state`, async () => {
      chain.endpoint.fail(fault, 'eth_getTransactionReceipt');
      const transactionHint = `0x${'ab'.repeat(32)}`;
      assert.equal((await chains.check({ ...payment, transactionHint })).kind, 'unused');
    });

    it(`that fails with ${fault} after its head was read reports the chain time`, async () => {
      chain.endpoint.fail(fault, 'eth_call');
      const found = await chains.check(payment);
      const chainTime = new Date(chain.head.timestamp * 1000);
      assert.deepEqual(found.kind === 'unreadable' && found.chainTime, chainTime);
    });
  }

  it('that refuses connections is unreadable', async () => {
    await chain.endpoint.close();
    await assertUnreadable(chains.check(payment), /ECONNREFUSED/);
  });

  it('that is slow still shows the payment', async () => {
    chain.movePayment(payment);
    chain.endpoint.delayMs = 3;
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  it('of another chain is unreadable, whatever it holds', async () => {
    const transactionHint = chain.movePayment(payment);
    chain.chainId = 1;
    await assertUnreadable(chains.check({ ...payment, transactionHint }), /serves chain 1, not 84532/);
    assert.equal(chain.endpoint.callsOf('eth_getTransactionReceipt'), 0);
  });

  it('is asked for its chain id until it has answered once', async () => {
    chain.chainId = 1;
    await chains.check(payment);
    chain.chainId = 84532;
    await chains.check(payment);
    await chains.check(payment);
    assert.equal(chain.endpoint.callsOf('eth_chainId'), 2);
  });

  describe('that lags', () => {
    it('by a little reports the time of its head', async () => {
      const { timestamp } = chain.head;
      chain.mineAt(2, 5);
      chain.movePayment(payment);
      chain.lag.set('*', 6);
      const chainTime = new Date(timestamp * 1000);
      assert.deepEqual(await chains.check(payment), { kind: 'unused', chainTime, exhausted: false });
    });

    it('by an hour reports the time of its head, and the payment is not exhausted', async () => {
      advanceClock(3_600_000);
      const chainTime = new Date(chain.head.timestamp * 1000);
      const { validBefore } = payment;
      assert.deepEqual(await chains.check(payment), { kind: 'unused', chainTime, exhausted: false });
      const past = await chains.check({ ...payment, validBefore: BigInt(chain.head.timestamp - 1) });
      assert.deepEqual(past, { kind: 'unused', chainTime, exhausted: true });
      assert.ok(validBefore < BigInt(Math.floor(nowMs() / 1000)));
    });

    it('still proves a payment that it has seen', async () => {
      chain.movePayment(payment);
      advanceClock(3_600_000);
      assert.equal((await chains.check(payment)).kind, 'paid');
    });

    for (const knowsBlockHashes of [true, false]) {
      const known = knowsBlockHashes ? 'hash' : 'number only';
      it(`behind its own head, as one of several nodes does, is unreadable when it knows blocks by ${known}`, async () => {
        chain.knowsBlockHashes = knowsBlockHashes;
        chain.movePayment(payment);
        assert.equal((await chains.check(payment)).kind, 'paid');
        chain.lag.set('eth_call', 1);
        await assertUnreadable(chains.check(payment), /error -32000/);
      });
    }

    it('with its logs shows the nonce used, and the payment once the logs arrive', async () => {
      chain.movePayment(payment);
      chain.lag.set('eth_getLogs', 1);
      const finding = await chains.check(payment);
      assert.ok(finding.kind === 'used');
      assert.match(finding.reason, /no log says by what/);
      chain.mine(1);
      const { position } = finding;
      chain.endpoint.calls.clear();
      assert.equal((await chains.check({ ...payment, position })).kind, 'paid');
      assert.equal(chain.endpoint.callsOf('eth_getLogs'), 1);
    });

    it('with its receipts shows the nonce used', async () => {
      chain.movePayment(payment);
      chain.lag.set('eth_getTransactionReceipt', 1);
      await assertUsed(chains.check(payment), /differ/);
    });

    it('with its head counts one confirmation', async () => {
      const transactionHint = chain.movePayment(payment);
      chain.mine(3);
      for (const [lag, confirmations] of [
        [0, 4],
        [3, 1],
        [4, 1],
      ] as const) {
        chain.lag.set('latest', lag);
        const found = await chains.check({ ...payment, transactionHint });
        assert.equal(found.kind === 'paid' && found.confirmations, confirmations);
      }
      assert.equal(chain.endpoint.callsOf('eth_getLogs'), 0);
    });
  });

  describe('after a reorganisation', () => {
    it('that dropped the transaction, its stale receipt proves nothing', async () => {
      const transactionHint = chain.movePayment(payment);
      chain.reorganise(transactionHint, 'kept');
      assert.equal((await chains.check({ ...payment, transactionHint })).kind, 'unused');
    });

    it('that moved the transaction, the payment is found in its new block', async () => {
      const transactionHint = chain.movePayment(payment);
      chain.reorganise(transactionHint, 'dropped');
      assert.equal((await chains.check({ ...payment, transactionHint })).kind, 'unused');
      const again = chain.movePayment(payment);
      await assertPaid(chains.check({ ...payment, transactionHint }), again);
    });

    it('with the nonce still used, the finding is only used', async () => {
      const transaction = chain.movePayment(payment);
      chain.reorganise(transaction, 'kept');
      chain.authorizationStateLie = true;
      await assertUsed(chains.check({ ...payment, transactionHint: transaction }), /no log says by what/);
    });
  });

  describe('that contradicts itself', () => {
    it('by hiding the logs shows only that the nonce is used', async () => {
      chain.movePayment(payment);
      chain.hidesLogs = true;
      await assertUsed(chains.check(payment), /no log says by what/);
    });

    it('by calling a nonce unused is overruled by the transaction', async () => {
      const transactionHint = chain.movePayment(payment);
      chain.authorizationStateLie = false;
      assert.equal((await chains.check({ ...payment, transactionHint })).kind, 'paid');
    });
  });

  describe('that limits the search for logs', () => {
    for (const range of [10_000, 2000, 100, 10, 1]) {
      it(`to ${range} blocks is searched in pieces`, async () => {
        chain.maxLogRange = range;
        const transaction = chain.movePayment(payment);
        chain.mine(12);
        await assertPaid(chains.check(payment), transaction);
      });
    }

    it('to none shows only that the nonce is used', async () => {
      chain.movePayment(payment);
      chain.maxLogRange = 0;
      await assertUsed(chains.check(payment), /refuses to search/);
    });

    it('and hides the log is searched over the whole range without a result', async () => {
      chain.authorizationStateLie = true;
      chain.maxLogRange = 1;
      chain.mine(100);
      await assertUsed(chains.check(payment), /no log says by what/);
    });
  });

  for (const [how, refuses] of [
    ['leaves out', false],
    ['refuses', true],
  ] as const) {
    it(`that ${how} blocks that it has pruned is searched as far as it has blocks`, async () => {
      chain.mineAt(2, 1000);
      const transaction = chain.movePayment(payment);
      chain.mineAt(2, 10);
      Object.assign(chain, { keepsBlocks: 100, refusesPrunedBlocks: refuses });
      const notBefore = new Date((chain.head.timestamp - 1000) * 1000);
      await assertPaid(chains.check({ ...payment, notBefore, validBefore: 2n ** 64n }), transaction);
    });
  }

  describe('whose blocks come irregularly', () => {
    it('is searched back to the claim after a long pause', async () => {
      const transaction = chain.movePayment(payment);
      chain.mineAt(3600, 3);
      chain.mineAt(1, 300);
      await assertPaid(chains.check({ ...payment, validBefore: 2n ** 64n }), transaction);
    });

    it('is searched back to the claim after a rush', async () => {
      const transaction = chain.movePayment(payment);
      chain.mineAt(0, 9000);
      chain.mineAt(12, 200);
      await assertPaid(chains.check({ ...payment, validBefore: 2n ** 64n }), transaction);
    });

    it('is searched back to the claim when its block times do not advance', async () => {
      const transaction = chain.movePayment(payment);
      chain.mineAt(0, 50_000);
      const notBefore = new Date((chain.head.timestamp + 599) * 1000);
      await assertPaid(chains.check({ ...payment, notBefore, validBefore: 2n ** 64n }), transaction);
      assert.ok(chain.endpoint.callsOf('eth_getBlockByNumber') < 24);
    });
  });
});
