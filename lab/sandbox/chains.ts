import path from 'node:path';
import { parseEvmWallet, parseSolanaWallet } from '../../shared/chains/wallet-address.js';
import { type EvmChain, startEvmChain } from './evm/evm-chain.js';
import type { Dials } from './facilitator/dials.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from './networks.js';
import { type Cluster, startCluster } from './solana/cluster.js';

export interface Chains {
  baseSepolia: EvmChain;
  xLayerTestnet: EvmChain;
  solana: Cluster;
  evm: readonly EvmChain[];
  setBlocks(pace: Dials['blocks']): Promise<void>;
  /** Gives a wallet some of everything; false when it is no wallet's address. */
  fund(address: string): Promise<boolean>;
  stop(): Promise<void>;
}

export type ChainPorts = Record<'baseSepolia' | 'xLayerTestnet' | 'solana', number>;

/** `folder` keeps them between two starts; without it they are forgotten. */
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
        await Promise.all(evm.map((chain) => chain.give(`0x${evmWallet.slice(2)}`)));
      if (evmWallet !== undefined) return true;
      const solanaWallet = parseSolanaWallet(address);
      if (solanaWallet !== undefined) solana.give(solanaWallet);
      return solanaWallet !== undefined;
    },
    stop,
  };
}
