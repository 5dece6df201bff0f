import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import type { FakeLog } from '../../../lab/world/chains/evm-logs.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import { type EvmNetwork, NETWORKS } from '../../../shared/chains/networks/networks.js';
import { MAX_CHAIN_ANSWER_BYTES } from '../../../shared/limits/bounds.js';
import { nowMs } from '../../../shared/process/clock.js';

export const BASE_SEPOLIA = 'eip155:84532';
export const BASE_SEPOLIA_NETWORK = NETWORKS.find(
  (network): network is EvmNetwork => network.caip2 === BASE_SEPOLIA,
) as EvmNetwork;
export const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';

/** A payment of 1 USDC that was claimed now and can be used for five minutes. */
export function buildEvmQuery(parts: Partial<EvmPaymentQuery> = {}): EvmPaymentQuery {
  return {
    family: 'evm',
    network: BASE_SEPOLIA,
    asset: USDC,
    from: randomAddress(),
    payTo: randomAddress(),
    amount: 1_000_000n,
    nonce: generatePrivateKey(),
    validBefore: BigInt(Math.floor(nowMs() / 1000) + 300),
    notBefore: new Date(nowMs()),
    ...parts,
  };
}

export function randomAddress(): string {
  return privateKeyToAddress(generatePrivateKey());
}

/** A log of any contract. With it, a transaction's receipt exceeds the bounds of an answer. */
export const CROWD: FakeLog = {
  address: randomAddress(),
  topics: [],
  data: `0x${'00'.repeat(MAX_CHAIN_ANSWER_BYTES / 2)}`,
};
