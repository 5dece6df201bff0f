import path from 'node:path';
import { parseEvmWallet, parseSolanaWallet } from '../../../shared/chains/networks/wallet-address.js';
import type { Dials } from '../dials/dials.js';
import { type EvmChain, startEvmChain } from '../evm/evm-chain.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from '../networks/networks.js';
import { type Cluster, startCluster } from '../solana/cluster.js';

export interface Chains {
  baseSepolia: EvmChain;
  xLayerTestnet: EvmChain;
  solana: Cluster;
  evm: readonly EvmChain[];
  setBlocks(pace: Dials['blocks']): Promise<void>;
  /** Gives a wallet native coins and every token of its family; false when `address` is not a wallet's. */
  fund(address: string): Promise<boolean>;
  stop(): Promise<void>;
}

export type ChainPorts = Record<'baseSepolia' | 'xLayerTestnet' | 'solana', number>;

/** `folder` persists the chains between two starts; without it they live in memory. */
export async function startChains(folder: string | undefined, ports: ChainPorts): Promise<Chains> {
  const file = (name: string): string | undefined => folder && path.join(folder, name);
  const starting = [
    startEvmChain({ network: BASE_SEPOLIA, port: ports.baseSepolia, stateFile: file('base-sepolia.json') }),
    startEvmChain({
      network: X_LAYER_TESTNET,
      port: ports.xLayerTestnet,
      stateFile: file('x-layer-testnet.json'),
    }),
    startCluster({ network: SOLANA_DEVNET, port: ports.solana, journalFile: file('solana.jsonl') }),
  ] as const;
  const settled = await Promise.allSettled(starting);
  const stop = async (): Promise<void> => {
    for (const chain of settled) if (chain.status === 'fulfilled') await chain.value.stop();
  };
  if (settled.some(({ status }) => status === 'rejected')) await stop();
  const [baseSepolia, xLayerTestnet, solana] = await Promise.all(starting);
  const evm = [baseSepolia, xLayerTestnet];
  return {
    baseSepolia,
    xLayerTestnet,
    solana,
    evm,
    async setBlocks(pace) {
      for (const chain of evm) await chain.setBlocks(pace);
      solana.setBlocks(pace);
    },
    async fund(address) {
      const evmWallet = parseEvmWallet(address);
      if (evmWallet !== undefined)
        await Promise.all(evm.map((chain) => chain.fund(`0x${evmWallet.slice(2)}`)));
      if (evmWallet !== undefined) return true;
      const solanaWallet = parseSolanaWallet(address);
      if (solanaWallet !== undefined) solana.fund(solanaWallet);
      return solanaWallet !== undefined;
    },
    stop,
  };
}
