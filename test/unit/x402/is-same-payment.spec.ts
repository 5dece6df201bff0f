import assert from 'node:assert/strict';
import {
  paymentHeader,
  signEvmPayment,
  signSolanaPayment,
  v1PaymentHeader,
} from '../../../lab/world/shop/agent.js';
import { isSamePayment } from '../../../shared/x402/match-payment.js';
import { payloadKey } from '../../../shared/x402/payload.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { ACCOUNT, BUYER, EVM, EVM_PAYLOAD, match, SVM, wellFormed } from './matching.js';
import { entryFor } from './offers.js';

describe('recognizing a repeated payment', () => {
  type Made = Parameters<typeof isSamePayment>[1];
  async function madeBy({ network, asset }: PaymentRequirements, text: string): Promise<Made> {
    const result = await match(text);
    assert.ok(result.ok);
    return { network, asset, payloadKey: payloadKey(network, asset, result.proof) };
  }

  it('recognizes the same header in every notation', async () => {
    const made = await madeBy(EVM, paymentHeader(EVM, EVM_PAYLOAD));
    const { authorization, signature } = EVM_PAYLOAD;
    const nonce = authorization.nonce.toUpperCase();
    const shouted = { signature, authorization: { ...authorization, nonce } };
    for (const text of [
      paymentHeader(EVM, EVM_PAYLOAD),
      paymentHeader({ ...EVM, asset: EVM.asset.toLowerCase(), amount: '1' }, EVM_PAYLOAD),
      paymentHeader(EVM, shouted),
      v1PaymentHeader('base-sepolia', EVM_PAYLOAD),
    ]) {
      assert.equal(isSamePayment(wellFormed(text), made), true);
    }
  });

  it('recognizes a Solana payment', async () => {
    const text = paymentHeader(SVM, signSolanaPayment(SVM, { payer: BUYER }));
    const made = await madeBy(SVM, text);
    assert.equal(isSamePayment(wellFormed(text), made), true);
    const another = paymentHeader(SVM, signSolanaPayment(SVM, { payer: BUYER }));
    assert.equal(isSamePayment(wellFormed(another), made), false);
  });

  it('does not recognize another payment', async () => {
    const made = await madeBy(EVM, paymentHeader(EVM, EVM_PAYLOAD));
    const another = await signEvmPayment(EVM, { account: ACCOUNT });
    for (const text of [
      paymentHeader(EVM, another),
      paymentHeader(entryFor('eip155:80002'), EVM_PAYLOAD),
      paymentHeader({ ...EVM, asset: ACCOUNT.address }, EVM_PAYLOAD),
      paymentHeader(EVM, {}),
      paymentHeader(EVM, EVM_PAYLOAD, { x402Version: 3 }),
      v1PaymentHeader('polygon-amoy', EVM_PAYLOAD),
    ]) {
      assert.equal(isSamePayment(wellFormed(text), made), false);
    }
  });
});
