import { Keypair } from '@solana/web3.js';
import { NETWORKS, OFFERED_TOKENS, type TokenSymbol } from '../../../shared/chains/networks/networks.js';
import { buildAccepts, type SupportedKinds } from '../../../shared/x402/requirements.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';

export const EVM_WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
export const SOLANA_WALLET = Keypair.generate().publicKey.toBase58();
export const FEE_PAYER = Keypair.generate().publicKey.toBase58();

export const BASE_SEPOLIA = 'eip155:84532';
export const X_LAYER_TESTNET = 'eip155:1952';
export const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
export const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

export const ALL_SUPPORTED: SupportedKinds = new Map(
  NETWORKS.map(({ caip2, family }) => [caip2, family === 'svm' ? [FEE_PAYER] : []]),
);

/** The entries of a test session of 10 cents on every network. */
export const ACCEPTS = buildAccepts({
  livemode: false,
  wallets: { evm: EVM_WALLET, solana: SOLANA_WALLET },
  amountCents: 10,
  supported: ALL_SUPPORTED,
});

export function entryFor(network: string, symbol: TokenSymbol = 'USDC'): PaymentRequirements {
  const token = OFFERED_TOKENS.find(
    (offered) => offered.symbol === symbol && offered.network.caip2 === network,
  );
  const entry = ACCEPTS.find((offered) => offered.network === network && offered.asset === token?.address);
  if (entry === undefined) throw new Error(`${symbol} on ${network} is not offered.`);
  return entry;
}
