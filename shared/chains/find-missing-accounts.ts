import { associatedTokenAccount } from './associated-token-account.js';
import { findNetwork } from './networks.js';
import type { FindMissing } from './payout-accounts.js';
import { throttleSolana } from './throttled-solana.js';

/** Of a Solana wallet, by what the network's endpoint says of confirmed blocks. */
export function createFindMissing(rpcUrls: ReadonlyMap<string, string>): FindMissing {
  const solana = throttleSolana(rpcUrls);
  return async (caip2, wallet) => {
    const network = findNetwork(caip2);
    if (network?.family !== 'svm') return [];
    const accounts = network.tokens.map((token) => ({
      asset: token.address,
      account: associatedTokenAccount(wallet, token),
    }));
    const there = await solana.accountsThere(
      network,
      accounts.map(({ account }) => account),
    );
    return Array.isArray(there) ? accounts.filter((_, index) => there[index] === false) : there;
  };
}
