import { TimedOut, withTimeout } from '../process/timeout.js';
import { type TokenBalances, throttleEvm } from './evm/throttled-evm.js';
import type { Network, SvmNetwork } from './networks/networks.js';
import type { EndpointUnreadable } from './rpc/throttled-endpoint.js';
import type { SolanaTransfers } from './solana/solana-transfers.js';

/** Reads a wallet's balances of a network's tokens for a buyer who waits; a slow endpoint counts as unreadable. */
export type ReadBalances = (network: Network, wallet: string) => Promise<TokenBalances | EndpointUnreadable>;

/** Applies to each endpoint separately. */
const TIMEOUT_MS = 1500;

export function createReadBalances(
  rpcUrls: ReadonlyMap<string, string>,
  solana: Pick<SolanaTransfers, 'readHoldings'>,
): ReadBalances {
  const evm = throttleEvm(rpcUrls, TIMEOUT_MS);
  return async (network, wallet) => {
    const reading =
      network.family === 'evm'
        ? evm.tokenBalances(network, wallet as `0x${string}`)
        : readSolana(solana, network, wallet);
    try {
      return await withTimeout(TIMEOUT_MS, reading);
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error;
      return { kind: 'unreadable', reason: error.message };
    }
  };
}

/** A wallet without an account for a token has balance 0. */
async function readSolana(
  solana: Pick<SolanaTransfers, 'readHoldings'>,
  network: SvmNetwork,
  wallet: string,
): Promise<TokenBalances | EndpointUnreadable> {
  const tokens = network.tokens.map((token) => ({ ...token, family: network.family, network }));
  const holdings = await solana.readHoldings(
    network,
    tokens.map((token) => ({ wallet, token })),
  );
  if (!Array.isArray(holdings)) return holdings;
  return new Map(tokens.map(({ address }, index) => [address, holdings[index] ?? 0n]));
}
