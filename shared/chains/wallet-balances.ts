import { TimedOut, withTimeout } from '../process/timeout.js';
import type { Network, SvmNetwork } from './networks.js';
import type { SolanaTransfers } from './solana-transfers.js';
import type { EndpointUnreadable } from './throttled-endpoint.js';
import { type TokenBalances, throttleEvm } from './throttled-evm.js';

/** What a wallet holds of a network's tokens, for a buyer who waits: what is not known soon is unknown. */
export type ReadBalances = (network: Network, wallet: string) => Promise<TokenBalances | EndpointUnreadable>;

/** For each endpoint by itself: one that hangs holds up no other. */
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

/** A wallet without an account for a token holds nothing of it. */
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
