import type { Random } from '../../world/chance/seeded-random.js';
import { KINDS_OF_ENDPOINT } from '../actors/endpoint-kinds.js';
import { TROUBLE_NAMES } from '../actors/endpoint-troubles.js';
import type { Stage } from '../stage/stage.js';
import { deckOf, drawMs, type Fault } from './fault.js';

/** The endpoints at which the chains are read are poor in the ways in which public ones are, and worse for a while. */
const LENGTHS_MS = [1000, 8000] as const;
/** Blocks or slots, or calls by the second. */
const MOST = { evm: 8, solana: 60 };

export function troubleEndpoints(): Fault {
  const drawChain = deckOf(['evm', 'evm', 'solana'] as const);
  const drawTrouble = { evm: deckOf(TROUBLE_NAMES), solana: deckOf(TROUBLE_NAMES) };
  const drawKind = { evm: deckOf(KINDS_OF_ENDPOINT.evm), solana: deckOf(KINDS_OF_ENDPOINT.solana) };
  return {
    everyMs: 2000,
    async strike({ chains }: Stage, random: Random, last) {
      const name = drawChain(random);
      const trouble = drawTrouble[name](random);
      const much = 1 + Math.floor(random() * MOST[name]);
      const kind = drawKind[name](random);
      chains[name].order('become', kind);
      chains[name].order('suffer', { trouble, much: String(much) });
      const lengthMs = drawMs(random, LENGTHS_MS);
      await last(lengthMs);
      chains[name].order('heal');
      const detail = `by ${much}, ${lengthMs} ms; ${JSON.stringify(kind)}`;
      return { fault: `the ${name} endpoint ${trouble}`, detail };
    },
  };
}
