import { createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { privateKeyToAddress } from 'viem/accounts';
import { fromBase58 } from '../world/chains/base58.js';
import { slow } from '../world/facilitator/dial.js';
import type { Rules } from '../world/facilitator/rules.js';
import { type FacilitatorServer, serveFacilitator } from '../world/facilitator/server.js';
import { type ChainPorts, type Chains, startChains } from './chains/chains.js';
import { handleControl } from './control/control.js';
import { type Dials, NO_FAULTS, settleBehaviour } from './dials/dials.js';
import { findTransaction } from './explorer/find-transaction.js';
import { createEvmScheme } from './facilitator/evm-scheme.js';
import { createStockRules } from './facilitator/stock-rules.js';
import { createSvmScheme } from './facilitator/svm-scheme.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from './networks/networks.js';
import { EVM_BUYER_KEY, SOLANA_BUYER_KEY, SOLANA_FACILITATOR_KEY } from './networks/wallets.js';
import { createWalletSigner } from './page-wallets/sign.js';

/**
 * Local chains under the ids of real test networks, funded wallets, and a facilitator built from the x402 packages that
 * settles on them. Callers need only the URLs.
 */
export interface Sandbox {
  /** A new id at every start. */
  id: string;
  facilitator: FacilitatorServer;
  chains: Chains;
  /** Keyed by environment variable, RPC_URL_<network>. */
  rpcUrls: Record<string, string>;
  readonly dials: Readonly<Dials>;
  turn(change: Partial<Dials>): Promise<Dials>;
  stop(): Promise<void>;
}

export interface SandboxOptions {
  /** Persists the chains between two starts; without it they live in memory. */
  folder?: string | undefined;
  /** Preferred ports; without them any free port is used. */
  ports?: Ports | undefined;
  /** When set, callers of the facilitator must send a JWT signed with this key. */
  key?: ExpectedKey | undefined;
}

/** The key whose JWTs are accepted, as this service signs them with FACILITATOR_KEY_ID and _SECRET. */
export interface ExpectedKey {
  id: string;
  /** Ed25519, SPKI DER, base64. */
  publicKey: string;
}

export type Ports = ChainPorts & { facilitator: number };

const ANYWHERE: Ports = { facilitator: 0, baseSepolia: 0, xLayerTestnet: 0, solana: 0 };

export async function startSandbox({ folder, ports = ANYWHERE, key }: SandboxOptions = {}): Promise<Sandbox> {
  const chains = await startChains(folder, ports);
  try {
    await fundOwnWallets(chains);
    return await openToThePublic(chains, ports.facilitator, key);
  } catch (error) {
    await chains.stop();
    throw error;
  }
}

async function openToThePublic(chains: Chains, port: number, key: ExpectedKey | undefined): Promise<Sandbox> {
  const id = randomUUID();
  const dials: Dials = { ...NO_FAULTS };
  const rpcUrls = Object.fromEntries([
    ...chains.evm.map(({ network, url }) => [network.environmentSuffix, url] as const),
    [SOLANA_DEVNET.environmentSuffix, chains.solana.url],
  ]);
  const turn = async (change: Partial<Dials>): Promise<Dials> => {
    Object.assign(dials, change);
    facilitator.verify.always(slow(dials.delayMs));
    facilitator.settle.always(settleBehaviour(dials));
    if (change.blocks !== undefined) await chains.setBlocks(change.blocks);
    return { ...dials };
  };
  const controls = {
    describe: () => ({ id, rpcUrls, dials }),
    turn,
    fund: chains.fund,
    signAsWallet: createWalletSigner(chains),
    findTransaction: (network: string, transaction: string) => findTransaction(chains, network, transaction),
  };
  const facilitator = await serveFacilitator({
    port,
    keepsCalls: false,
    tokens: key && { keyId: key.id, publicKey: decode(key.publicKey), onSupportedToo: true },
    openRules: () => openRules(chains, dials),
    otherwise: (request, response) => handleControl(controls, request, response),
  });
  return {
    id,
    facilitator,
    chains,
    rpcUrls,
    dials,
    turn,
    async stop() {
      await facilitator.close();
      await chains.stop();
    },
  };
}

/** Each facilitator has a memory of its own and starts with an empty one. */
async function openRules({ evm, baseSepolia, xLayerTestnet, solana }: Chains, dials: Dials): Promise<Rules> {
  return createStockRules(
    [
      [BASE_SEPOLIA.caip2, createEvmScheme(BASE_SEPOLIA, baseSepolia.url, dials)],
      [X_LAYER_TESTNET.caip2, createEvmScheme(X_LAYER_TESTNET, xLayerTestnet.url, dials)],
      [SOLANA_DEVNET.caip2, await createSvmScheme(SOLANA_DEVNET, solana.url, dials)],
    ],
    ({ paymentRequirements: { network, payTo, asset } }) => {
      for (const chain of evm) if (chain.network.caip2 === network) chain.touch();
      // On the real network the merchant opens this token account itself, for a little SOL.
      if (network === SOLANA_DEVNET.caip2) solana.openTokenAccount(payTo, asset);
    },
  );
}

function decode(publicKey: string): KeyObject {
  return createPublicKey({ key: Buffer.from(publicKey, 'base64'), format: 'der', type: 'spki' });
}

async function fundOwnWallets(chains: Chains): Promise<void> {
  const solana = [SOLANA_BUYER_KEY, SOLANA_FACILITATOR_KEY].map((secret) => {
    return Keypair.fromSecretKey(fromBase58(secret)).publicKey.toBase58();
  });
  for (const wallet of [privateKeyToAddress(EVM_BUYER_KEY), ...solana]) await chains.fund(wallet);
}
