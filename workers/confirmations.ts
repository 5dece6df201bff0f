import { findNetwork } from '../shared/chains/networks.js';
import type { Config } from '../shared/config.js';

/** How many confirmations a network's payments wait for; 0 takes the facilitator's clear word. */
export function confirmationsFor(config: Config, network: string): number {
  const suffix = findNetwork(network)?.environmentSuffix;
  return suffix === undefined ? 0 : (config.confirmations.get(suffix) ?? 0);
}
