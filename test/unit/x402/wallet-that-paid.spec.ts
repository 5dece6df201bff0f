import assert from 'node:assert/strict';
import { Keypair, PublicKey } from '@solana/web3.js';
import {
  type SolanaOverrides,
  signSolanaPayment,
  tokenAccount,
  tokenProgram,
  transferChecked,
} from '../../../lab/world/shop/agent.js';
import { walletThatPaid } from '../../../shared/x402/wallet-that-paid.js';
import { ACCOUNT, BUYER, EVM, EVM_PAYLOAD, SVM } from './matching.js';

const NAMED = Keypair.generate().publicKey.toBase58();
const buyer = BUYER.publicKey.toBase58();

function ofSolana(parts: SolanaOverrides = {}, payer: string | null = NAMED): string | undefined {
  const blockhash = Keypair.generate().publicKey.toBase58();
  const payload = signSolanaPayment(SVM, { payer: BUYER, blockhash, ...parts });
  return walletThatPaid({ network: SVM.network, payload, payer });
}

describe('the wallet that paid', () => {
  it("is the signer, whatever the facilitator's answer", () => {
    const { network } = EVM;
    for (const payer of [EVM.payTo, 'nobody', null])
      assert.equal(walletThatPaid({ network, payload: EVM_PAYLOAD, payer }), ACCOUNT.address);
    for (const payer of [NAMED, 'nobody', null]) assert.equal(ofSolana({}, payer), buyer);
  });

  it("is the facilitator's payer when the transaction does not identify the payer", () => {
    const after = [transferChecked(SVM, BUYER.publicKey)];
    for (const payer of [NAMED, null]) assert.equal(ofSolana({ after }, payer), payer ?? undefined);
  });

  it('is undefined when the signer spends from an account that another wallet may own', () => {
    const owner = Keypair.generate().publicKey;
    const account = tokenAccount(owner, SVM.asset, tokenProgram(SVM.network, SVM.asset));
    const byDelegate = transferChecked(SVM, BUYER.publicKey);
    byDelegate.keys[0] = { pubkey: account, isSigner: false, isWritable: true };
    // Stock facilitators name the signer, too.
    for (const payer of [null, buyer])
      assert.equal(ofSolana({ instructions: [byDelegate] }, payer), undefined);
    assert.equal(ofSolana({ instructions: [byDelegate] }, owner.toBase58()), undefined);
    const { publicKey } = BUYER;
    const both = { instructions: [transferChecked(SVM, publicKey), byDelegate] };
    assert.equal(ofSolana(both, buyer), undefined);
  });

  it('is undefined when no money can be sent to it', () => {
    for (const payer of [null, '', 'nobody', `0x${'0'.repeat(40)}`])
      assert.equal(walletThatPaid({ network: EVM.network, payload: {}, payer }), undefined);
    const payer = PublicKey.default.toBase58();
    assert.equal(walletThatPaid({ network: SVM.network, payload: { transaction: '' }, payer }), undefined);
  });
});
