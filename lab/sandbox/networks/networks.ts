import { type EvmNetwork, findNetwork, type SvmNetwork } from '../../../shared/chains/networks/networks.js';

/** The three networks of the token table that the sandbox runs, with their tokens at their real addresses. */
export const BASE_SEPOLIA = evmNetwork('eip155:84532');
export const X_LAYER_TESTNET = evmNetwork('eip155:1952');
export const SOLANA_DEVNET = svmNetwork('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1');

function evmNetwork(caip2: string): EvmNetwork {
  const network = findNetwork(caip2);
  if (network?.family !== 'evm') throw new Error(`The token table has no EVM network ${caip2}.`);
  return network;
}

function svmNetwork(caip2: string): SvmNetwork {
  const network = findNetwork(caip2);
  if (network?.family !== 'svm') throw new Error(`The token table has no Solana network ${caip2}.`);
  return network;
}
