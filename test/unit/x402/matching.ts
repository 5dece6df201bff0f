import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { signEvmPayment } from '../../../lab/world/shop/agent.js';
import { decodePaymentHeader, type WellFormedHeader } from '../../../shared/x402/headers.js';
import { matchPayment, type Offer, type PaymentMatch } from '../../../shared/x402/match-payment.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { ACCEPTS, ALL_SUPPORTED, BASE_SEPOLIA, entryFor, SOLANA_DEVNET } from './offers.js';

export const ACCOUNT = privateKeyToAccount(generatePrivateKey());
export const BUYER = Keypair.generate();
export const OTHER_FEE_PAYER = Keypair.generate().publicKey;
export const OFFER: Offer = { accepts: ACCEPTS, supported: ALL_SUPPORTED, offeredFeePayers: [] };
export const EVM = entryFor(BASE_SEPOLIA);
export const SVM = entryFor(SOLANA_DEVNET);
export const EVM_PAYLOAD = await signEvmPayment(EVM, { account: ACCOUNT });

export function wellFormed(text: string): WellFormedHeader {
  const header = decodePaymentHeader(text);
  assert.ok(header.kind !== 'malformed');
  return header;
}

export async function match(text: string, offer: Partial<Offer> = {}): Promise<PaymentMatch> {
  return await matchPayment(wellFormed(text), { ...OFFER, ...offer });
}

export async function assertRefused(matching: Promise<PaymentMatch>, code: string): Promise<void> {
  const result = await matching;
  assert.equal(result.ok, false);
  assert.equal(result.code, code);
  assert.ok(result.message.length > 10);
}

export async function assertPays(matching: Promise<PaymentMatch>, entry: PaymentRequirements): Promise<void> {
  const result = await matching;
  assert.ok(result.ok);
  assert.deepEqual(result.requirements, entry);
}
