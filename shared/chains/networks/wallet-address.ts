import { PublicKey } from '@solana/web3.js';
import { getAddress, isAddress, zeroAddress } from 'viem';
import { EVM_ADDRESS, isEvm, SOLANA_ADDRESS } from './text-forms.js';

/** Returns the address in the spelling that is stored; undefined when no money can be sent to it. */
export function parseEvmWallet(text: string): string | undefined {
  // viem remembers every text that it was asked about.
  if (!EVM_ADDRESS.test(text)) return undefined;
  const isLowerCase = text === text.toLowerCase();
  if (!isAddress(text, { strict: !isLowerCase })) return undefined;
  const address = getAddress(text);
  return address === zeroAddress ? undefined : address;
}

/** Parses a wallet of the network's family. */
export function parseWalletOn(network: string, text: string): string | undefined {
  return isEvm(network) ? parseEvmWallet(text) : parseSolanaWallet(text);
}

export function parseSolanaWallet(text: string): string | undefined {
  // Reading base58 takes quadratic time.
  if (!SOLANA_ADDRESS.test(text)) return undefined;
  try {
    const key = new PublicKey(text);
    return key.equals(PublicKey.default) ? undefined : key.toBase58();
  } catch {
    return undefined;
  }
}
