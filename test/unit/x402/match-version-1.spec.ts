import assert from 'node:assert/strict';
import {
  signEvmPayment,
  signSolanaPayment,
  transferChecked,
  v1PaymentHeader,
} from '../../../lab/world/shop/agent.js';
import type { PaymentMatch } from '../../../shared/x402/match-payment.js';
import {
  ACCOUNT,
  assertPays,
  assertRefused,
  BUYER,
  EVM,
  EVM_PAYLOAD,
  match,
  OTHER_FEE_PAYER,
  SVM,
} from './matching.js';
import { BASE_SEPOLIA, entryFor, SOLANA_DEVNET, X_LAYER_TESTNET } from './offers.js';

const USDG = entryFor(SOLANA_DEVNET, 'USDG');

describe('matching a payload of version 1', () => {
  it('pays the only token of its network', async () => {
    await assertPays(match(v1PaymentHeader('base-sepolia', EVM_PAYLOAD)), EVM);
  });

  it('pays the only token of its network with any signature', async () => {
    const payload = { ...EVM_PAYLOAD, signature: `0x${'12'.repeat(300)}` };
    await assertPays(match(v1PaymentHeader('base-sepolia', payload)), EVM);
  });

  for (const symbol of ['USDC', 'USDT', 'USDG'] as const) {
    it(`pays the token whose domain the signature fits: ${symbol}`, async () => {
      const entry = entryFor(X_LAYER_TESTNET, symbol);
      const payload = await signEvmPayment(entry, { account: ACCOUNT });
      await assertPays(match(v1PaymentHeader('xlayer-testnet', payload)), entry);
    });
  }

  for (const symbol of ['USDC', 'USDG'] as const) {
    it(`pays the token whose mint the transaction moves: ${symbol}`, async () => {
      const entry = entryFor(SOLANA_DEVNET, symbol);
      const payload = signSolanaPayment(entry, { payer: BUYER });
      await assertPays(match(v1PaymentHeader('solana-devnet', payload)), entry);
    });
  }

  it('sends on the fee payer that the buyer signed for', async () => {
    const payload = signSolanaPayment(SVM, { payer: BUYER, feePayer: OTHER_FEE_PAYER });
    const offeredFeePayers = [OTHER_FEE_PAYER.toBase58()];
    const matching = match(v1PaymentHeader('solana-devnet', payload), { offeredFeePayers });
    await assertPays(matching, { ...SVM, extra: { feePayer: OTHER_FEE_PAYER.toBase58() } });
  });

  describe('refuses', () => {
    it('another scheme: unsupported_scheme', async () => {
      const text = v1PaymentHeader('base-sepolia', EVM_PAYLOAD, { scheme: 'upto' });
      await assertRefused(match(text), 'unsupported_scheme');
    });

    for (const network of ['base', 'solana-testnet', BASE_SEPOLIA, '', '__proto__', 'constructor']) {
      it(`the network ${JSON.stringify(network)}: invalid_network`, async () => {
        await assertRefused(match(v1PaymentHeader(network, EVM_PAYLOAD)), 'invalid_network');
      });
    }

    it('the payload of another family: invalid_payload', async () => {
      await assertRefused(match(v1PaymentHeader('solana-devnet', EVM_PAYLOAD)), 'invalid_payload');
      await assertRefused(match(v1PaymentHeader('base-sepolia', { transaction: 'AAAA' })), 'invalid_payload');
    });

    it('a signature that fits none of several tokens: invalid_payment_requirements', async () => {
      const payload = await signEvmPayment(entryFor(X_LAYER_TESTNET), {
        account: ACCOUNT,
        domain: { name: 'Another' },
      });
      const matching = match(v1PaymentHeader('xlayer-testnet', payload));
      await assertRefused(matching, 'invalid_payment_requirements');
      await assertAsksForVersion2(matching);
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
