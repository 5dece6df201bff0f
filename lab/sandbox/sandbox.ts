import { randomUUID } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { privateKeyToAddress } from 'viem/accounts';
import { fromBase58 } from '../world/chains/base58.js';
import { type ChainPorts, type Chains, startChains } from './chains/chains.js';
import { handleControl } from './control/control.js';
import type { Dials } from './dials/dials.js';
import { findTransaction } from './explorer/find-transaction.js';
import {
  type ExpectedKey,
  type FacilitatorOptions,
  type SandboxFacilitator,
  serveOnChains,
} from './facilitator/serve.js';
import { SOLANA_DEVNET } from './networks/networks.js';
import {
  EVM_BUYER_KEY,
  EVM_FACILITATOR_KEY,
  EVM_SECOND_FACILITATOR_KEY,
  SOLANA_BUYER_KEY,
  SOLANA_FACILITATOR_KEY,
  SOLANA_SECOND_FACILITATOR_KEY,
} from './networks/wallets.js';
import { createWalletSigner } from './page-wallets/sign.js';

/**
 * Local chains under the ids of real test networks, funded wallets, and two facilitators that settle on them. Callers
 * need only the URLs.
 */
export interface Sandbox {
  /** A new id at every start. */
  id: string;
  facilitator: SandboxFacilitator;
  secondFacilitator: SandboxFacilitator;
  chains: Chains;
  /** Keyed by environment variable, RPC_URL_<network>. */
  rpcUrls: Record<string, string>;
  /** Turns dials of a facilitator, by default of the first one. */
  turn(change: Partial<Dials>, facilitator?: SandboxFacilitator): Promise<Dials>;
  stop(): Promise<void>;
}

interface SandboxOptions {
  /** Persists the chains between two starts; without it they live in memory. */
  folder?: string | undefined;
  /** Preferred ports; without them any free port is used. */
  ports?: Ports | undefined;
  /** When set, callers of the first facilitator must send a JWT signed with this key. */
  key?: ExpectedKey | undefined;
}

export type Ports = ChainPorts & { facilitator: number; secondFacilitator: number };

const FREE_PORTS: Ports = {
  facilitator: 0,
  secondFacilitator: 0,
  baseSepolia: 0,
  xLayerTestnet: 0,
  solana: 0,
};
const WALLETS = { evm: EVM_FACILITATOR_KEY, solana: SOLANA_FACILITATOR_KEY } as const;
const SECOND_WALLETS = { evm: EVM_SECOND_FACILITATOR_KEY, solana: SOLANA_SECOND_FACILITATOR_KEY } as const;

export async function startSandbox({
  folder,
  ports = FREE_PORTS,
  key,
}: SandboxOptions = {}): Promise<Sandbox> {
  const chains = await startChains(folder, ports);
  try {
    await fundOwnWallets(chains);
    return await serveFacilitators(chains, ports, key);
  } catch (error) {
    await chains.stop();
    throw error;
  }
}

async function serveFacilitators(
  chains: Chains,
  ports: Ports,
  key: ExpectedKey | undefined,
): Promise<Sandbox> {
  const id = randomUUID();
  const rpcUrls = Object.fromEntries([
    ...chains.evm.map(({ network, url }) => [network.environmentSuffix, url] as const),
    [SOLANA_DEVNET.environmentSuffix, chains.solana.url],
  ]);
  const turn = async (change: Partial<Dials>, turned = facilitator): Promise<Dials> => {
    turned.turn(change);
    const { blocks } = change;
    if (blocks !== undefined) {
      for (const one of [facilitator, secondFacilitator]) one.turn({ blocks });
      await chains.setBlocks(blocks);
    }
    return { ...turned.dials };
  };
  const common = {
    fund: chains.fund,
    signAsWallet: createWalletSigner(chains),
    findTransaction: (network: string, transaction: string) => findTransaction(chains, network, transaction),
  };
  /** The requests to a facilitator's port that control the sandbox. They turn the dials of that facilitator. */
  const otherwise: FacilitatorOptions['otherwise'] = async (own, request, response) => {
    const describe = (): object => ({ id, rpcUrls, dials: own.dials });
    const controls = { ...common, describe, turn: (change: Partial<Dials>) => turn(change, own) };
    await handleControl(controls, request, response);
  };
  const facilitator = await serveOnChains(chains, {
    port: ports.facilitator,
    wallets: WALLETS,
    key,
    otherwise,
  });
  const secondFacilitator = await serveOnChains(chains, {
    port: ports.secondFacilitator,
    wallets: SECOND_WALLETS,
    otherwise,
  });
  return {
    id,
    facilitator,
    secondFacilitator,
    chains,
    rpcUrls,
    turn,
    async stop() {
      await facilitator.close();
      await secondFacilitator.close();
      await chains.stop();
    },
  };
}

async function fundOwnWallets(chains: Chains): Promise<void> {
  const keys = [SOLANA_BUYER_KEY, SOLANA_FACILITATOR_KEY, SOLANA_SECOND_FACILITATOR_KEY];
  const solana = keys.map((secret) => Keypair.fromSecretKey(fromBase58(secret)).publicKey.toBase58());
  for (const wallet of [privateKeyToAddress(EVM_BUYER_KEY), ...solana]) await chains.fund(wallet);
}
