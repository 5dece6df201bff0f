import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';
import { forEachTest } from '../../support/hooks.js';
import { assertUnreadable } from './assert-found.js';
import { buildEvmQuery } from './evm-payment.js';
import { openUnpaced } from './unpaced.js';

type Entry = Record<string, unknown>;

describe('an EVM endpoint whose answers have another form', () => {
  const chain = forEachTest(() => EvmChain.inProcess(84532));
  const chains = forEachTest(() => openUnpaced(fetch));
  const payment = forEachTest(buildEvmQuery);
  /** Changes the answer to a call before it is sent. */
  let spoil: (method: string, answer: Entry) => Entry;

  const fetch: ChainFetch = async (input, init) => {
    const asked = JSON.parse(String(init?.body));
    const answered = JSON.parse(await (await chain.endpoint.fetch(input, init)).text());
    if (!Array.isArray(asked)) return Response.json(spoil(asked.method, answered));
    return Response.json(asked.map(({ method }, index) => spoil(method, answered[index])));
  };

  beforeEach(() => {
    spoil = (_method, answer) => answer;
  });

  it('that tells times in milliseconds ends no authorization', async () => {
    spoil = (method, answer) =>
      method === 'eth_getBlockByNumber'
        ? { ...answer, result: { ...Object(answer.result), timestamp: chain.head.timestamp * 1000 } }
        : answer;
    await assertUnreadable(chains.check(payment), /malformed block/);
  });

  for (const error of ['overloaded', '', false, 0, { message: 'overloaded' }]) {
    it(`that answers the error ${JSON.stringify(error)} beside a state proves nothing, alone and in a batch`, async () => {
      chain.movePayment(payment);
      chain.mineAt(400, 1);
      const result = `0x${'0'.repeat(64)}`;
      spoil = (method, answer) => (method === 'eth_call' ? { ...answer, result, error } : answer);
      await assertUnreadable(chains.check(payment), /./);
      const found = await Promise.all([chains.check(payment), chains.check(buildEvmQuery())]);
      for (const { kind } of found) assert.equal(kind, 'unreadable');
    });
  }

  it('that answers with an error that is null shows the payment', async () => {
    chain.movePayment(payment);
    spoil = (_method, answer) => ({ ...answer, error: null });
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  const RECEIPT = 'eth_getTransactionReceipt';
  const forms: [form: string, method: string, change: (result: Entry) => Entry][] = [
    ['a receipt whose status is a number', RECEIPT, (receipt) => ({ ...receipt, status: 1 })],
    ['a receipt whose status has leading zeros', RECEIPT, (receipt) => ({ ...receipt, status: '0x01' })],
    ['a receipt without a status', RECEIPT, ({ status: _, ...receipt }) => receipt],
    [
      'a receipt whose hash of the block is in upper case',
      RECEIPT,
      (receipt) => ({ ...receipt, blockHash: upper(receipt.blockHash) }),
    ],
    [
      'the hash of a block in upper case',
      'eth_getBlockByNumber',
      (block) => ({ ...block, hash: upper(block.hash) }),
    ],
  ];
  for (const [form, spoiled, change] of forms)
    it(`that gives ${form} shows the payment`, async () => {
      const transactionHint = chain.movePayment(payment);
      spoil = (method, answer) =>
        method === spoiled ? { ...answer, result: change(Object(answer.result)) } : answer;
      assert.equal((await chains.check(payment)).kind, 'paid');
      assert.equal((await chains.check({ ...payment, transactionHint })).kind, 'paid');
    });
});

function upper(hash: unknown): string {
  return `0x${String(hash).slice(2).toUpperCase()}`;
}
