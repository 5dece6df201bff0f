import { type EvmNetwork, NETWORKS } from '../../shared/chains/networks/networks.js';
import type { WalletChain, WalletChains } from './page-data.js';

/** Native coins other than ether, by chain id. */
const NATIVE_SYMBOLS: Record<number, string> = {
  14: 'FLR',
  137: 'POL',
  143: 'MON',
  196: 'OKB',
  988: 'USDT0',
  1328: 'SEI',
  1329: 'SEI',
  1952: 'OKB',
  42220: 'CELO',
  43113: 'AVAX',
  43114: 'AVAX',
  80002: 'POL',
};

export function walletChainId({ chainId }: EvmNetwork): string {
  return `0x${chainId.toString(16)}`;
}

/**
 * The description of a network for wallets that do not know it. Buyers need no native coin: the facilitator pays
 * the gas.
 */
export function walletChain(network: EvmNetwork): WalletChain {
  const symbol = NATIVE_SYMBOLS[network.chainId] ?? 'ETH';
  return {
    chainId: walletChainId(network),
    chainName: network.name,
    nativeCurrency: { name: symbol, symbol, decimals: 18 },
    rpcUrls: [network.publicRpcUrl],
    blockExplorerUrls: [new URL(network.transactionUrlTemplate).origin],
  };
}

/** The EVM networks of every mode. */
export function walletChains(): WalletChains {
  const networks = NETWORKS.filter((network) => network.family === 'evm');
  return Object.fromEntries(networks.map((network) => [walletChainId(network), walletChain(network)]));
}
