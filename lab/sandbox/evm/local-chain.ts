import { createWalletClient, defineChain, type Hex, http, publicActions, testActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { EvmNetwork } from '../../../shared/chains/networks/networks.js';

/** viem polls every 4 s by default; here the block is there after one. */
const POLLING_MS = 100;

/** A viem client that signs with a sandbox key and has anvil's test actions. */
export type LocalChain = ReturnType<typeof openLocalChain>;

export function openLocalChain(network: EvmNetwork, url: string, key: Hex) {
  const chain = defineChain({
    id: network.chainId,
    name: network.name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const transport = http(url, { retryCount: 0, timeout: 10_000 });
  const account = privateKeyToAccount(key);
  return createWalletClient({ account, chain, transport, pollingInterval: POLLING_MS, cacheTime: 0 })
    .extend(publicActions)
    .extend(testActions({ mode: 'anvil' }));
}
