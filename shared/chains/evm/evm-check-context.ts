import type { ChainCheck } from '../check/chain-check.js';
import type { EvmEndpointMemory } from './authorization-log.js';
import type { EvmRpc } from './evm-rpc.js';

export interface EvmCheckContext {
  rpc: EvmRpc;
  memory: EvmEndpointMemory;
  check: ChainCheck;
  /** The network's setting, at least 1: an outcome is certain in a block with so many, its own included. */
  confirmations: number;
}
