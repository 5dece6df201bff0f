import assert from 'node:assert/strict';
import { Keypair, TransactionInstruction } from '@solana/web3.js';
import { type SolanaOverrides, signSolanaPayment, transferChecked } from '../../../lab/world/shop/agent.js';
import { parsePayload } from '../../../shared/x402/parse-payload.js';
import { payer } from '../../../shared/x402/payload.js';
import { ACCOUNT, BUYER, EVM, EVM_PAYLOAD, SVM } from './matching.js';

function payerOf(network: string, payload: object): string | undefined {
  const proof = parsePayload(network, { ...payload });
  assert.ok(proof);
  return payer(proof);
}

const onSolana = (parts: SolanaOverrides = {}): string | undefined =>
  payerOf(SVM.network, signSolanaPayment(SVM, { payer: BUYER, ...parts }));

describe('the payer', () => {
  it('is `from` on EVM, with its checksum', () => {
    const { authorization, signature } = EVM_PAYLOAD;
    const from = ACCOUNT.address.toLowerCase();
    const payload = { signature, authorization: { ...authorization, from } };
    assert.equal(payerOf(EVM.network, payload), ACCOUNT.address);
  });

  it("is the transfer's authority on Solana", () => {
    assert.equal(onSolana(), BUYER.publicKey.toBase58());
  });

  it('is not known when several transfers, or another program, may move tokens', () => {
    const other = transferChecked(SVM, Keypair.generate().publicKey);
    const program = { programId: Keypair.generate().publicKey, keys: [], data: Buffer.from([1]) };
    for (const instruction of [other, new TransactionInstruction(program)])
      assert.equal(onSolana({ before: [instruction], signers: [] }), undefined);
  });

  it('is not known when the transaction shows no transfer', () => {
    assert.equal(onSolana({ instructions: [], signers: [] }), undefined);
  });
});
