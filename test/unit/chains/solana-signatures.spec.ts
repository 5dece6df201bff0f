import assert from 'node:assert/strict';
import { unreadableReason } from '../../../shared/chains/check/unreadable.js';
import { findNetwork } from '../../../shared/chains/networks/networks.js';
import { SolanaRpc } from '../../../shared/chains/solana/solana-rpc.js';
import { DEVNET } from './solana-payment.js';

const ENTRY = { signature: '5sig', slot: 7, err: null, memo: null, blockTime: null };

describe('a list of signatures', () => {
  async function find(answer: unknown): Promise<unknown> {
    const network = findNetwork(DEVNET);
    assert.ok(network?.family === 'svm');
    const rpc = new SolanaRpc(network, 'http://endpoint.test', async () => Response.json(answer));
    return await rpc.findSignatures('account', 'confirmed', 0, undefined);
  }

  it('has a time and a memo where the endpoint knows them', async () => {
    const err = { InstructionError: [0, 'x'] };
    const full = { ...ENTRY, blockTime: 1_700_000_000, memo: '[4] note', err };
    assert.deepEqual(await find({ result: [ENTRY, full, { signature: 'old', slot: 1 }] }), [
      { signature: '5sig', slot: 7, blockTime: undefined, memo: undefined },
      { signature: '5sig', slot: 7, blockTime: new Date(1_700_000_000_000), memo: '[4] note' },
      { signature: 'old', slot: 1, blockTime: undefined, memo: undefined },
    ]);
  });

  for (const malformed of [
    null,
    'signature',
    { ...ENTRY, signature: 5 },
    { ...ENTRY, slot: '7' },
    { ...ENTRY, blockTime: '2026' },
    { ...ENTRY, memo: 1 },
  ]) {
    it(`cannot be used when it holds ${JSON.stringify(malformed)}`, async () => {
      await assert.rejects(find({ result: [ENTRY, malformed] }), /listed a malformed signature/);
    });
  }

  for (const result of [undefined, null, {}, 'none']) {
    it(`cannot be used when it is ${JSON.stringify(result)}`, async () => {
      await assert.rejects(find({ result }), /answered no list of signatures/);
    });
  }

  it('that is refused tells the code of the error, even beside a result', async () => {
    const error = { code: -32016, message: 'Minimum context slot has not been reached' };
    const refused = await find({ result: [], error }).catch((thrown: unknown) => thrown);
    assert.equal(unreadableReason(refused), 'the endpoint answered error -32016');
  });
});
