import { createPublicKey, type KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Hex } from 'viem';
import type { Rules } from '../../world/facilitator/rules.js';
import { type FacilitatorServer, serveFacilitator } from '../../world/facilitator/server.js';
import type { Chains } from '../chains/chains.js';
import { behavioursOf, type Dials, NO_FAULTS } from '../dials/dials.js';
import { openLocalChain } from '../evm/local-chain.js';
import { BASE_SEPOLIA, SOLANA_DEVNET, X_LAYER_TESTNET } from '../networks/networks.js';
import { createEvmScheme } from './evm-scheme.js';
import { createStockRules } from './stock-rules.js';
import { createSvmScheme } from './svm-scheme.js';

/** A facilitator built from the x402 packages, with a port, wallets, a memory and dials of its own. */
export interface SandboxFacilitator extends FacilitatorServer {
  dials: Dials;
  /** Takes over the changes of the dials, except for the chains' one. */
  turn(change: Partial<Dials>): void;
}

export interface FacilitatorOptions {
  port: number;
  wallets: { evm: Hex; solana: string };
  key?: ExpectedKey | undefined;
  /** Handles the requests to this facilitator's port that are not a facilitator's. */
  otherwise(own: SandboxFacilitator, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** The key whose JWTs are accepted, as this service signs them with FACILITATOR_KEY_ID and _SECRET. */
export interface ExpectedKey {
  id: string;
  /** Ed25519, SPKI DER, base64. */
  publicKey: string;
}

export async function serveOnChains(
  chains: Chains,
  { port, wallets, key, otherwise }: FacilitatorOptions,
): Promise<SandboxFacilitator> {
  const dials: Dials = { ...NO_FAULTS };
  const server = await serveFacilitator({
    port,
    keepsCalls: false,
    tokens: key && { keyId: key.id, publicKey: decode(key.publicKey), onSupportedToo: true },
    openRules: () => openRules(chains, wallets, dials),
    otherwise: (request, response) => otherwise(own, request, response),
  });
  const own: SandboxFacilitator = {
    ...server,
    dials,
    turn(change) {
      Object.assign(dials, change);
      const behaviours = behavioursOf(dials);
      for (const endpoint of ['supported', 'verify', 'settle'] as const) {
        server[endpoint].always(behaviours[endpoint]);
        if (change.calls !== undefined) server[endpoint].releaseAll();
      }
    },
  };
  return own;
}

/** Each facilitator has a memory of its own and starts with an empty one. */
async function openRules(
  { evm, baseSepolia, xLayerTestnet, solana }: Chains,
  wallets: FacilitatorOptions['wallets'],
  dials: Dials,
): Promise<Rules> {
  const evmScheme = (network: typeof BASE_SEPOLIA, url: string) =>
    createEvmScheme(openLocalChain(network, url, wallets.evm), dials);
  const svmScheme = await createSvmScheme(SOLANA_DEVNET, solana.url, { key: wallets.solana, dials });
  return createStockRules(
    [
      [BASE_SEPOLIA.caip2, evmScheme(BASE_SEPOLIA, baseSepolia.url)],
      [X_LAYER_TESTNET.caip2, evmScheme(X_LAYER_TESTNET, xLayerTestnet.url)],
      [SOLANA_DEVNET.caip2, svmScheme],
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
