import { CHAIN_FAULT_NAMES } from '../../world/chains/faults.js';
import type { Random } from '../../world/chance/seeded-random.js';
import { ENDPOINT_KINDS } from '../actors/endpoint-kinds.js';
import type { System } from '../system/system.js';
import { deckOf, drawMs, type Fault } from './fault.js';

/** The chains' RPC endpoints always have the limits of public ones, and for a while faults as well. */
const LENGTHS_MS = [1000, 8000] as const;
/** Blocks or slots, or calls per second. */
const MOST = { evm: 8, solana: 60 };

export function degradeEndpoints(): Fault {
  const drawChain = deckOf(['evm', 'evm', 'solana'] as const);
  const drawFault = { evm: deckOf(CHAIN_FAULT_NAMES), solana: deckOf(CHAIN_FAULT_NAMES) };
  const drawKind = { evm: deckOf(ENDPOINT_KINDS.evm), solana: deckOf(ENDPOINT_KINDS.solana) };
  return {
    everyMs: 2000,
    async inject({ chains }: System, random: Random, wait) {
      const name = drawChain(random);
      const fault = drawFault[name](random);
      const size = 1 + Math.floor(random() * MOST[name]);
      const kind = drawKind[name](random);
      chains[name].order('setEndpointKind', kind);
      chains[name].order('applyFault', { fault, size: String(size) });
      const lengthMs = drawMs(random, LENGTHS_MS);
      await wait(lengthMs);
      chains[name].order('recover');
      const detail = `by ${size}, ${lengthMs} ms; ${JSON.stringify(kind)}`;
      return { fault: `the ${name} endpoint ${fault}`, detail };
    },
  };
}
