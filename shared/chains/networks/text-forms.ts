/** Forms of texts, without checksums: for a first look, also in browsers. */
export const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i;
export const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** 32 bytes: a transaction, or the nonce of an authorization. */
export const EVM_WORD = /^0x[0-9a-f]{64}$/i;
/** No signature of Solana is so short. */
const HASH = /^(?:0x)?[0-9a-f]{64}$/i;
const SOLANA_TRANSACTION = /^[1-9A-HJ-NP-Za-km-z]{64,90}$/;

export function looksLikeWallet(text: string): boolean {
  return EVM_ADDRESS.test(text) || SOLANA_ADDRESS.test(text);
}

export function looksLikeTransaction(text: string): boolean {
  return EVM_WORD.test(text) || SOLANA_TRANSACTION.test(text);
}

/** Judges by the network's CAIP-2 id. */
export function isEvm(network: string): boolean {
  return network.startsWith('eip155:');
}

/** Whether two texts name one address, mint or transaction of a network: on EVM the case of their letters does not matter. */
export function isSameAddress(network: string, ours: string, theirs: unknown): boolean {
  if (typeof theirs !== 'string') return false;
  return isEvm(network) ? ours.toLowerCase() === theirs.toLowerCase() : ours === theirs;
}

/**
 * A single name for each transaction: hex digits mean the same in both cases, the letters of Solana's signatures do not.
 * Some facilitators, explorers and wallets leave the prefix of a hash out.
 */
export function transactionName(text: string): string {
  const trimmed = text.trim();
  return HASH.test(trimmed) ? `0x${trimmed.slice(-64).toLowerCase()}` : trimmed;
}
