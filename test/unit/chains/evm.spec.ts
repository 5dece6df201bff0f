import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import { type Chains, createChains } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import { forEachTest } from '../../support/hooks.js';
import { assertFound } from './assert-found.js';
import { buildEvmQuery, randomAddress } from './evm-payment.js';

describe('checking a payment on an EVM chain', () => {
  const chain = forEachTest(() => EvmChain.start(84532));
  let chains: Chains;
  const payment = forEachTest(buildEvmQuery);

  beforeEach(() => {
    chains = createChains(new Map([['EIP155_84532', chain.endpoint.url]]));
  });

  afterEach(() => chains.close());

  function check(parts: Partial<EvmPaymentQuery> = {}): Promise<ChainFinding> {
    return chains.check({ ...payment, ...parts });
  }

  function paidBy(transaction: string, confirmations = 1): ChainFinding {
    const height = chain.head.number;
    return { kind: 'paid', transaction, height, proofIndex: 8, payer: payment.from, confirmations };
  }

  describe('without a hint', () => {
    it('finds it by its nonce', async () => {
      const transaction = chain.movePayment(payment);
      assert.deepEqual(await check(), paidBy(transaction));
    });

    it('counts the blocks from its own to the newest', async () => {
      const transaction = chain.movePayment(payment);
      const expected = paidBy(transaction, 4);
      chain.mine(3);
      assert.deepEqual(await check(), expected);
    });

    it('finds it among the other payments of one transaction', async () => {
      const before = { ...payment, nonce: buildEvmQuery().nonce };
      const after = { ...buildEvmQuery(), payTo: payment.payTo };
      const all = [before, payment, after].flatMap((one) => [usedLog(one), transferLog(one)]);
      const transaction = chain.execute(all);
      const found = await Promise.all(
        [before, payment, after].map((one) => chains.check({ ...payment, ...one })),
      );
      const proofs = found.map((one) => (one.kind === 'paid' ? [one.transaction, one.proofIndex] : one.kind));
      assert.deepEqual(
        proofs,
        [8, 10, 12].map((index) => [transaction, index]),
      );
    });

    it('finds it in any case of its addresses and its nonce', async () => {
      const transaction = chain.movePayment(payment);
      const shouted = payment.nonce.toUpperCase().replace('0X', '0x');
      const lower = (text: string): string => text.toLowerCase();
      const { asset, from, payTo } = payment;
      const parts = { asset: lower(asset), from: lower(from), payTo: lower(payTo), nonce: shouted };
      assert.deepEqual(await check(parts), paidBy(transaction));
    });

    it('finds it long after its authorization has ended, at any later head', async () => {
      const transaction = chain.movePayment(payment);
      const expected = paidBy(transaction, 20_001);
      chain.mineAt(2, 20_000);
      chain.endpoint.calls.clear();
      assert.deepEqual(await check(), expected);
      assert.ok(chain.endpoint.callsOf('eth_getLogs') <= 2);
    });

    it('does not confuse it with the same nonce of another payer or another nonce of the same payer', async () => {
      chain.movePayment({ ...payment, from: randomAddress() });
      chain.movePayment({ ...payment, nonce: buildEvmQuery().nonce });
      chain.movePayment({ ...payment, asset: randomAddress() });
      assert.equal((await check()).kind, 'unused');
    });

    it('takes no proof from a reverted transaction', async () => {
      chain.execute([usedLog(payment), transferLog(payment)], 'reverted');
      assert.equal((await check()).kind, 'unused');
    });
  });

  describe('the end of an authorization', () => {
    it('has come when the block time, not the clock, has passed it', async () => {
      const ended = await check({ validBefore: BigInt(chain.head.timestamp) });
      assert.equal(ended.kind === 'unused' && ended.exhausted, false);
      const past = await check({ validBefore: BigInt(chain.head.timestamp - 1) });
      assert.equal(past.kind === 'unused' && past.exhausted, true);
    });

    it('has come when the block time jumps over it', async () => {
      chain.travel(3600);
      chain.mine();
      const chainTime = new Date(chain.head.timestamp * 1000);
      assert.deepEqual(await check(), { kind: 'unused', chainTime, exhausted: true });
    });

    it('may be beyond the range of a Date', async () => {
      const finding = await check({ validBefore: 2n ** 256n - 1n });
      assert.equal(finding.kind === 'unused' && finding.exhausted, false);
      const transaction = chain.movePayment(payment);
      assert.deepEqual(await check({ validBefore: 2n ** 256n - 1n }), paidBy(transaction));
    });
  });

  describe('an outcome in blocks without their confirmations', () => {
    beforeEach(() => {
      chains.close();
      const urls = new Map([['EIP155_84532', chain.endpoint.url]]);
      chains = createChains(urls, { confirmations: new Map([['EIP155_84532', 3]]) });
    });

    it('does not count as spent, and pays when another block replaces its own', async () => {
      const transaction = chain.cancelAuthorization(payment);
      const pending = { kind: 'pending', transaction, pays: false };
      assert.deepEqual(await check(), pending);
      assert.deepEqual(await check({ transactionHint: transaction }), pending);
      chain.mine();
      assert.equal((await check()).kind, 'pending');
      chain.reorganise(transaction, 'dropped');
      chain.movePayment(payment);
      assert.equal((await check()).kind, 'paid');
    });

    it('counts as spent in its third block', async () => {
      const transaction = chain.cancelAuthorization(payment);
      chain.mine(2);
      assert.deepEqual(await check(), { kind: 'spent_otherwise', transaction });
    });

    it('does not end an authorization before the third block past its end', async () => {
      const validBefore = BigInt(chain.head.timestamp);
      const ends: boolean[] = [];
      for (let blocks = 0; blocks < 4; blocks += 1) {
        const finding = await check({ validBefore });
        ends.push(finding.kind === 'unused' && finding.exhausted);
        chain.mineLater();
      }
      assert.deepEqual(ends, [false, false, false, true]);
    });

    it('is not readable at an endpoint that lacks the third newest block', async () => {
      const validBefore = BigInt(chain.head.timestamp);
      chain.travel(1);
      chain.mine(3);
      chain.keepsBlocks = 1;
      chain.keepsFirstBlock = false;
      await assertFound('unreadable', check({ validBefore }), /^the endpoint has no block \d+/);
    });
  });

  describe('a nonce spent otherwise', () => {
    it('was cancelled long after its end', async () => {
      chain.mineAt(2, 12_000);
      chain.travel(24_000);
      const transaction = chain.cancelAuthorization(payment);
      chain.mine(50);
      assert.deepEqual(await check(), { kind: 'spent_otherwise', transaction });
    });

    for (const [how, parts] of Object.entries<(amount: bigint) => Partial<EvmPaymentQuery>>({
      'was signed for another recipient too': () => ({ payTo: randomAddress() }),
      'moved less, as with a token that takes a fee': (amount) => ({ amount: amount - 1n }),
    })) {
      it(how, async () => {
        const transaction = chain.movePayment({ ...payment, ...parts(payment.amount) });
        assert.deepEqual(await check(), { kind: 'spent_otherwise', transaction });
      });
    }

    it('stays spent when another authorization of the same transaction pays the merchant', async () => {
      const elsewhere = { ...payment, payTo: randomAddress() };
      const another = { ...payment, nonce: buildEvmQuery().nonce };
      const transaction = chain.execute(
        [another, elsewhere].flatMap((one) => [usedLog(one), transferLog(one)]),
      );
      assert.deepEqual(await check(), { kind: 'spent_otherwise', transaction });
      assert.equal((await check(another)).kind, 'paid');
    });
  });

  describe('a hint', () => {
    it('saves the search for the nonce', async () => {
      const transaction = chain.movePayment(payment);
      assert.deepEqual(await check({ transactionHint: transaction }), paidBy(transaction));
      assert.equal(chain.endpoint.callsOf('eth_call'), 0);
      assert.equal(chain.endpoint.callsOf('eth_getLogs'), 0);
    });

    it('gives the transaction in lower case', async () => {
      const transaction = chain.movePayment(payment);
      const shouted = transaction.toUpperCase().replace('0X', '0x');
      assert.deepEqual(await check({ transactionHint: shouted }), paidBy(transaction));
    });

    for (const [whose, parts] of Object.entries<() => Partial<EvmPaymentQuery>>({
      "another buyer's payment of the same amount to the same merchant": () => ({
        from: randomAddress(),
        nonce: buildEvmQuery().nonce,
      }),
      "the buyer's own payment of another purchase": () => ({ nonce: buildEvmQuery().nonce }),
      "another contract's log of the same contents": () => ({ asset: randomAddress() }),
    })) {
      it(`is ignored when it is ${whose}`, async () => {
        const transactionHint = chain.movePayment({ ...payment, ...parts() });
        assert.equal((await check({ transactionHint })).kind, 'unused');
      });
    }

    it('is ignored when the transaction reverted', async () => {
      const reverted = chain.execute([usedLog(payment), transferLog(payment)], 'reverted');
      assert.equal((await check({ transactionHint: reverted })).kind, 'unused');
    });

    for (const hint of ['', 'pending', `0x${'00'.repeat(31)}`, `0x${'ab'.repeat(32)}`, '5'.repeat(88)]) {
      it(`that is no transaction (${hint.slice(0, 10)}) does not hide the payment`, async () => {
        const transaction = chain.movePayment(payment);
        assert.deepEqual(await check({ transactionHint: hint }), paidBy(transaction));
      });
    }

    it('that is wrong does not hide the payment', async () => {
      const stranger = chain.movePayment(buildEvmQuery({ payTo: payment.payTo }));
      const transaction = chain.movePayment(payment);
      assert.deepEqual(await check({ transactionHint: stranger }), paidBy(transaction));
    });

    it('that names the cancellation shows it', async () => {
      const transaction = chain.cancelAuthorization(payment);
      const spent = { kind: 'spent_otherwise', transaction };
      assert.deepEqual(await check({ transactionHint: transaction }), spent);
    });
  });

  describe('one transfer', () => {
    it('does not count for two payments: two authorizations that match it are both ambiguous', async () => {
      const rival = { ...payment, nonce: buildEvmQuery().nonce };
      const transaction = chain.execute([usedLog(rival), usedLog(payment), transferLog(payment)]);
      await assertFound('used', check(), /cannot be told apart/);
      await assertFound('used', check({ ...rival, transactionHint: transaction }), /cannot be told apart/);
    });

    it("has one name: the same position in the block, by its hint and by its nonce's log", async () => {
      const transaction = chain.movePayment(payment);
      assert.deepEqual(await check({ transactionHint: transaction }), await check());
    });
  });
});
