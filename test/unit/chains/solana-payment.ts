import { AddressLookupTableAccount, Keypair, PublicKey } from '@solana/web3.js';
import { type SolanaOverrides, signSolanaPayment } from '../../../lab/world/shop/agent.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';
import { nowMs } from '../../../shared/process/clock.js';

export const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
export const USDC_MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
export const USDG_MINT = '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7';

export interface SolanaPayment {
  query: SolanaPaymentQuery;
  buyer: Keypair;
}

/** A payment of 1 USDC that was claimed now. `parts` override the buyer's transaction. */
export function buildSolanaPayment(
  blockhash: string,
  parts: Partial<SolanaOverrides> & { payTo?: string; mint?: string; buyer?: Keypair; feePayer?: never } = {},
): SolanaPayment {
  const { payTo = randomKey(), mint = USDC_MINT, buyer = Keypair.generate(), ...overrides } = parts;
  const requirements = {
    scheme: 'exact',
    network: DEVNET,
    amount: '1000000',
    asset: mint,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { feePayer: FEE_PAYER },
  } as const;
  const { transaction } = signSolanaPayment(requirements, { payer: buyer, blockhash, ...overrides });
  return {
    buyer,
    query: {
      family: 'svm',
      network: DEVNET,
      signedTransaction: transaction,
      payTo,
      mint,
      tokenProgram: mint === USDG_MINT ? 'token-2022' : 'spl-token',
      amount: 1_000_000n,
      notBefore: new Date(nowMs()),
    },
  };
}

/** A lookup table that is in use. */
export function lookupTable(addresses: PublicKey[]): AddressLookupTableAccount {
  const state = {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses,
  };
  return new AddressLookupTableAccount({ key: new PublicKey(randomKey()), state });
}

export function randomKey(): string {
  return Keypair.generate().publicKey.toBase58();
}

const FEE_PAYER = randomKey();
