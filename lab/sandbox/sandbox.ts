import { randomUUID } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { privateKeyToAddress } from 'viem/accounts';
import { type ChainPorts, type Chains, startChains } from './chains.js';
import { handleControl } from './control.js';
import { createTokenCheck, type ExpectedKey } from './facilitator/check-token.js';
import { type Dials, NO_FAULTS } from './facilitator/dials.js';
import { createEvmScheme } from './facilitator/evm-scheme.js';
import { createJudge, type Judge } from './facilitator/judge.js';
import { type FacilitatorServer, startFacilitator } from './facilitator/server.js';
import { createSvmScheme } from './facilitator/svm-scheme.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from './networks.js';
import { createWalletSigner } from './page-wallets/sign.js';
import { fromBase58 } from './solana/base58.js';
import { EVM_BUYER_KEY, SOLANA_BUYER_KEY, SOLANA_FACILITATOR_KEY } from './wallets.js';

/**
 * Local chains under the names of real test networks, funded wallets, and a facilitator of x402's own packages that
 * settles on them. Whoever uses it needs nothing but the URLs.
 */
export interface Sandbox {
  /** Another one at every start. */
  id: string;
  facilitator: FacilitatorServer;
  chains: Chains;
  /** By their variables' names, RPC_URL_<network>. */
  rpcUrls: Record<string, string>;
  readonly dials: Readonly<Dials>;
  turn(change: Partial<Dials>): Promise<Dials>;
  stop(): Promise<void>;
}

export interface SandboxOptions {
  /** Keeps the chains between two starts; without it they are forgotten. */
  folder?: string | undefined;
  /** Where to listen, or on the next ports that are free; without it anywhere. */
  ports?: Ports | undefined;
  /** Whoever wants something of the facilitator must sign for it with this key. */
  key?: ExpectedKey | undefined;
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
    if (change.blocks !== undefined) await chains.setBlocks(change.blocks);
    return { ...dials };
  };
  const controls = {
    describe: () => ({ id, rpcUrls, dials }),
    turn,
    fund: chains.fund,
    signAsWallet: createWalletSigner(chains),
  };
  const facilitator = await startFacilitator({
    port,
    dials,
    checkToken: createTokenCheck(key),
    createJudge: () => createStockJudge(chains, dials),
    control: (request, response) => handleControl(controls, request, response),
    onPayment({ requirements: { network, payTo, asset } }) {
      for (const chain of chains.evm) if (chain.network.caip2 === network) chain.touch();
      // In reality the merchant has opened an account for the token, which costs a little SOL.
      if (network === SOLANA_DEVNET.caip2) chains.solana.openTokenAccount(payTo, asset);
    },
  });
  return {
    id,
    facilitator,
    chains,
    rpcUrls,
    dials,
    turn,
    async stop() {
      await facilitator.stop();
      await chains.stop();
    },
  };
}

/** Each remembers what it has seen, and nothing of the one before it. */
async function createStockJudge(
  { baseSepolia, xLayerTestnet, solana }: Chains,
  dials: Dials,
): Promise<Judge> {
  return createJudge([
    [BASE_SEPOLIA.caip2, createEvmScheme(BASE_SEPOLIA, baseSepolia.url, dials)],
    [X_LAYER_TESTNET.caip2, createEvmScheme(X_LAYER_TESTNET, xLayerTestnet.url, dials)],
    [SOLANA_DEVNET.caip2, await createSvmScheme(SOLANA_DEVNET, solana.url, dials)],
  ]);
}

async function fundOwnWallets(chains: Chains): Promise<void> {
  const solana = [SOLANA_BUYER_KEY, SOLANA_FACILITATOR_KEY].map((secret) => {
    return Keypair.fromSecretKey(fromBase58(secret)).publicKey.toBase58();
  });
  for (const wallet of [privateKeyToAddress(EVM_BUYER_KEY), ...solana]) await chains.fund(wallet);
}
