import assert from 'node:assert/strict';
import { signSolanaPayment, transferChecked, v1PaymentHeader } from '../../../lab/world/shop/agent.js';
import type { PaymentMatch } from '../../../shared/x402/match-payment.js';
import {
  assertPays,
  assertRefused,
  BUYER,
  EVM,
  EVM_PAYLOAD,
  match,
  OTHER_FEE_PAYER,
  SVM,
} from './matching.js';
import { entryFor, SOLANA_DEVNET } from './offers.js';

const USDG = entryFor(SOLANA_DEVNET, 'USDG');

/** test/flows/link/link-headers.spec.ts has what a link shows of it. */
describe('matching a payload of version 1', () => {
  it('pays the only token of its network with any signature', async () => {
    const payload = { ...EVM_PAYLOAD, signature: `0x${'12'.repeat(300)}` };
    await assertPays(match(v1PaymentHeader('base-sepolia', payload)), EVM);
  });

  it('sends on the fee payer that the buyer signed for', async () => {
    const payload = signSolanaPayment(SVM, { payer: BUYER, feePayer: OTHER_FEE_PAYER });
    const offeredFeePayers = [OTHER_FEE_PAYER.toBase58()];
    const matching = match(v1PaymentHeader('solana-devnet', payload), { offeredFeePayers });
    await assertPays(matching, { ...SVM, extra: { feePayer: OTHER_FEE_PAYER.toBase58() } });
  });

  describe('refuses', () => {
    it('the network by the name of a prototype: invalid_network', async () => {
      for (const network of ['', '__proto__', 'constructor'])
        await assertRefused(match(v1PaymentHeader(network, EVM_PAYLOAD)), 'invalid_network');
    });

    it('a transaction in none, or in both, of two tokens: invalid_payment_requirements', async () => {
      const none = signSolanaPayment(SVM, { payer: BUYER, instructions: [], signers: [] });
      await assertRefused(match(v1PaymentHeader('solana-devnet', none)), 'invalid_payment_requirements');
      await assertAsksForVersion2(match(v1PaymentHeader('solana-devnet', none)));
      const both = signSolanaPayment(SVM, { payer: BUYER, after: [transferChecked(USDG, BUYER.publicKey)] });
      await assertRefused(match(v1PaymentHeader('solana-devnet', both)), 'invalid_payment_requirements');
    });
  });
});

/** A payload of version 1 has no `accepted` that could be sent back. */
async function assertAsksForVersion2(matching: Promise<PaymentMatch>): Promise<void> {
  const result = await matching;
  assert.ok(!result.ok);
  assert.match(result.message, /several tokens.*x402 version 2/i);
}
