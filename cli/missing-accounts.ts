import { findToken, NETWORKS } from '../shared/chains/networks/networks.js';
import type { Config } from '../shared/config/config.js';
import { withTimeout } from '../shared/process/timeout.js';

const TIMEOUT_MS = 3000;

/** The token accounts that a merchant's Solana wallet has to open before links offer the tokens. Unreadable networks are left out. */
export async function missingAccounts(
  { checkTokenAccounts, rpcUrls }: Pick<Config, 'checkTokenAccounts' | 'rpcUrls'>,
  wallet: string | null,
): Promise<object> {
  if (!checkTokenAccounts || wallet === null) return {};
  const { createFindMissing } = await import('../shared/chains/solana/find-missing-accounts.js');
  const findMissing = createFindMissing(rpcUrls);
  const found = await Promise.all(
    NETWORKS.filter(({ family }) => family === 'svm').map(async ({ caip2, name }) => {
      const missing = await withTimeout(TIMEOUT_MS, findMissing(caip2, wallet)).catch(() => []);
      if ('kind' in missing) return [];
      return missing.map(({ asset, account }) => ({
        open_token_account: account,
        token: findToken(caip2, asset)?.symbol,
        network: caip2,
        network_name: name,
      }));
    }),
  );
  const all = found.flat();
  return all.length === 0 ? {} : { token_accounts_to_open: all };
}
