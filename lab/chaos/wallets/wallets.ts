import { createHash } from 'node:crypto';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { nowMs } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { Random } from '../../world/chance/seeded-random.js';
import { paymentHeader, signEvmPayment, signSolanaPayment } from '../../world/shop/agent.js';
import type { Signing } from '../journals/entries.js';

/** A buyer's wallet. */
export interface Wallet {
  family: Signing['family'];
  sign(offer: PaymentRequirements): Promise<SignedPayment>;
}

export interface SignedPayment {
  header: string;
  nonce: string;
  /** Unix seconds until which the buyer sends the payment. */
  validBefore: number;
}

const SHORTEST_VALIDITY_SECONDS = 25;
const LONGEST_VALIDITY_SECONDS = 45;
/** A blockhash lasts 150 slots of 0.4 s. */
const BLOCKHASH_SECONDS = 55;

export function evmWallet(random: Random, key: Hex = generatePrivateKey()): Wallet {
  const account = privateKeyToAccount(key);
  return {
    family: 'evm',
    async sign(offer) {
      const spread = LONGEST_VALIDITY_SECONDS - SHORTEST_VALIDITY_SECONDS + 1;
      const seconds = SHORTEST_VALIDITY_SECONDS + Math.floor(random() * spread);
      const validBefore = Math.floor(nowMs() / 1000) + seconds;
      const payload = await signEvmPayment(offer, { account, validBefore: BigInt(validBefore) });
      const nonce = payload.authorization.nonce.toLowerCase();
      return { header: paymentHeader(offer, payload), nonce, validBefore };
    },
  };
}

/** `blockhashes` is the URL of the newest blockhash. */
export function solanaWallet(payer: Keypair, blockhashes: string): Wallet {
  return {
    family: 'svm',
    async sign(offer) {
      const response = await fetch(blockhashes);
      const validBefore = Math.floor(nowMs() / 1000) + BLOCKHASH_SECONDS;
      const payload = signSolanaPayment(offer, { payer, blockhash: await response.text() });
      return { header: paymentHeader(offer, payload), nonce: messageHash(payload.transaction), validBefore };
    },
  };
}

/** The busy wallet's key, the same in each process of a run. */
export function busyKeypair(seed: number): Keypair {
  return Keypair.fromSeed(keyOf(`busy ${seed}`));
}

export function newKeypair(): Keypair {
  return Keypair.generate();
}

/** The one key of a name. */
export function keyOf(name: string): Buffer {
  return createHash('sha256').update(name).digest();
}

function messageHash(transaction: string): string {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  return createHash('sha256').update(message.serialize()).digest('hex');
}
