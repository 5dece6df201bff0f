import { Keypair } from '@solana/web3.js';
import type { Hex } from 'viem';
import { pick, type Random } from '../../world/chance/seeded-random.js';
import { busyKeypair, evmWallet, keyOf, newKeypair, solanaWallet, type Wallet } from './wallets.js';

/** The wallets of one family that pay purchases and refunds. */
export interface Purse {
  evm(random: Random): Wallet;
  solana(random: Random): Wallet;
}

/** The share of Solana purchases that one busy wallet pays. */
const BUSY_SHARE = 0.5;
const FEW = ['one', 'another'];

/** A wallet for each payment, but for a busy one on Solana. */
export function manyWallets(seed: number, blockhashes: string): Purse {
  return {
    evm: (random) => evmWallet(random),
    solana: (random) => solanaWallet(random() < BUSY_SHARE ? busyKeypair(seed) : newKeypair(), blockhashes),
  };
}

/**
 * Two wallets of each family, and the merchant's own on EVM networks: a payment and a refund may be equal transfers between
 * the same two wallets.
 */
export function fewWallets(seed: number, blockhashes: string, merchantKey: Hex): Purse {
  const keys = FEW.map((name) => keyOf(`${name} ${seed}`));
  const evmKeys = [...keys.map((key): Hex => `0x${key.toString('hex')}`), merchantKey];
  return {
    evm: (random) => evmWallet(random, pick(random, evmKeys)),
    solana: (random) => solanaWallet(Keypair.fromSeed(pick(random, keys)), blockhashes),
  };
}
