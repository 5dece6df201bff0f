import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { canceledLog, type FakeLog, transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import { createChainReader } from '../../../shared/chains/chain-reader.js';
import { createChains } from '../../../shared/chains/chains.js';
import type { Arrival } from '../../../shared/chains/check/arrival.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import { forEachTest } from '../../support/hooks.js';
import { BASE_SEPOLIA_NETWORK, buildEvmQuery, CROWD, randomAddress } from './evm-payment.js';

/** More logs than one answer holds. */
const FLOOD = 5000;

describe('a transaction on an EVM chain whose receipt is too long to be read', () => {
  const chain = forEachTest(() => EvmChain.start(84532));
  const urls = (): Map<string, string> => new Map([['EIP155_84532', chain.endpoint.url]]);
  const chains = forEachTest(() => createChains(urls()));
  const reader = forEachTest(() => createChainReader(urls(), { pauseMs: 1 }));
  const payment = forEachTest(buildEvmQuery);

  async function arrivals(): Promise<{ arrivals: Arrival[]; others: number }> {
    const newest = chain.head.number;
    const all = { arrivals: [] as Arrival[], others: 0 };
    for (let oldest = newest - 1; oldest <= newest; ) {
      const found = await reader.evmArrivals(BASE_SEPOLIA_NETWORK, [payment.payTo], { oldest, newest });
      all.arrivals.push(...found.arrivals);
      all.others += found.others;
      oldest = found.upTo + 1;
    }
    return all;
  }

  for (const hint of ['without a hint', 'with a hint'] as const) {
    it(`shows the payment in it, ${hint}`, async () => {
      const stranger = buildEvmQuery({ nonce: payment.nonce, payTo: payment.payTo });
      const elsewhere = { ...payment, nonce: stranger.asset.padEnd(66, '0'), payTo: randomAddress() };
      const logs = [elsewhere, stranger, payment].flatMap((one) => [usedLog(one), transferLog(one)]);
      const transaction = chain.execute([CROWD, ...logs]);
      chain.mine();
      const transactionHint = hint === 'with a hint' ? transaction : undefined;
      assert.deepEqual(await chains.check({ ...payment, transactionHint }), {
        kind: 'paid',
        transaction,
        height: chain.head.number - 1,
        proofIndex: 13,
        payer: payment.from,
        confirmations: 2,
      });
    });
  }

  const spent: [how: string, logs: (payment: EvmPaymentQuery) => FakeLog[]][] = [
    ['canceled', (one) => [canceledLog(one), CROWD]],
    ['used to pay another', (one) => [usedLog(one), transferLog({ ...one, payTo: randomAddress() }), CROWD]],
  ];
  for (const [how, logs] of spent) {
    it(`shows that the authorization was ${how} in it`, async () => {
      const transaction = chain.execute(logs(payment));
      assert.deepEqual(await chains.check(payment), { kind: 'spent_otherwise', transaction });
    });
  }

  it('shows nothing by a Transfer before the use, where the endpoint leaves out the one after it', async () => {
    const another = transferLog({ ...payment, payTo: randomAddress() });
    chain.execute([another, usedLog(payment), transferLog(payment), CROWD]);
    chain.mostLogs = 2;
    assert.equal((await chains.check(payment)).kind, 'used');
  });

  it('decides nothing when a reorganisation has dropped it between two reads', async () => {
    const transaction = chain.execute([usedLog(payment), transferLog(payment), CROWD]);
    let searches = 0;
    chain.endpoint.onCall = (method) => {
      if (method === 'eth_getLogs') searches += 1;
      if (method !== 'eth_getTransactionReceipt' || searches !== 1) return;
      chain.endpoint.onCall = () => {};
      chain.reorganise(transaction, 'kept');
    };
    assert.equal((await chains.check(payment)).kind, 'used');
  });

  it('does not stop the search for what reached a wallet', async () => {
    const plain = { ...payment, from: randomAddress() };
    chain.execute([CROWD, transferLog(plain)]);
    chain.execute([usedLog(payment), CROWD, transferLog(payment)]);
    const found = await arrivals();
    assert.equal(found.others, 1);
    const [arrival, ...others] = found.arrivals;
    assert.equal(others.length, 0);
    // No token of the table logs anything between a use and its Transfer: it may be another's.
    assert.deepEqual([arrival?.payer, arrival?.references], [payment.from, []]);
  });

  it('gives no transfer the nonce of another, where the endpoint leaves out the logs after the use', async () => {
    // An approved transfer of the same payer to the same wallet, right before the use.
    chain.execute([transferLog(payment), usedLog(payment), transferLog(payment), CROWD]);
    chain.mostLogs = 2;
    const [second, first] = (await arrivals()).arrivals;
    assert.deepEqual([second?.references, first?.references], [[payment.nonce], []]);
    assert.equal(Number(second?.proofIndex) - Number(first?.proofIndex), 2);
  });

  it('does not stop that search when it floods the wallet with transfers', async () => {
    const flood = transferLog({ ...payment, from: randomAddress(), amount: 0n });
    const payments = [payment, { ...payment, nonce: buildEvmQuery().nonce }];
    chain.execute([
      ...Array<FakeLog>(FLOOD).fill(flood),
      ...payments.flatMap((one) => [usedLog(one), transferLog(one)]),
    ]);
    const found = await arrivals();
    const references = found.arrivals.map(({ references }) => references);
    assert.deepEqual(
      references,
      payments.map(({ nonce }) => [nonce]),
    );
  });

  it("leaves a transfer whose payer has used no authorization in it without one, beside another payer's", async () => {
    const byRouter = { ...payment, from: randomAddress() };
    const toRouter = transferLog({ ...payment, payTo: byRouter.from });
    chain.execute([usedLog(payment), toRouter, CROWD, transferLog(byRouter)]);
    chain.mine();
    const [arrival, ...others] = (await arrivals()).arrivals;
    assert.equal(others.length, 0);
    assert.deepEqual([arrival?.payer, arrival?.references], [byRouter.from, []]);
  });
});
