import { findNetwork } from '../networks/networks.js';
import { associatedTokenAccount } from './associated-token-account.js';
import type { FindMissing } from './payout-accounts.js';
import { throttleSolana } from './throttled-solana.js';

/** Finds the token accounts that a Solana wallet lacks, in the state of confirmed blocks. */
export function createFindMissing(rpcUrls: ReadonlyMap<string, string>): FindMissing {
  const solana = throttleSolana(rpcUrls);
  return async (caip2, wallet) => {
    const network = findNetwork(caip2);
    if (network?.family !== 'svm') return [];
    const accounts = network.tokens.map((token) => ({
      asset: token.address,
      account: associatedTokenAccount(wallet, token),
    }));
    const exists = await solana.accountsExist(
      network,
      accounts.map(({ account }) => account),
    );
    return Array.isArray(exists) ? accounts.filter((_, index) => exists[index] === false) : exists;
  };
}
