import type { Balancer, Fault, RpcEndpoint } from '../../world/chains/chain.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import type { Gate } from './gate.js';

/** What comes over the endpoint of a chain, and goes again. */
export interface TroubledChain {
  endpoint: RpcEndpoint;
  lag: Map<string, number>;
  nodes: Balancer;
}

/** As ordered: its name, and by how much. */
export type Trouble = Record<string, string>;
type Suffer = (chain: TroubledChain, much: number, halt: Gate) => void;

const TROUBLES: Record<string, Suffer> = {
  cut: fails('cut'),
  'HTTP 500': fails('http_500'),
  'HTTP 429': fails('http_429'),
  'limited by the second': ({ endpoint }, much) => {
    endpoint.callsPerSecond = much;
  },
  behind: ({ lag }, much) => void lag.set('*', much),
  'two nodes, one behind': ({ nodes }, much) => nodes.spread([0, much], seededRandom(much)),
  halted: (_chain, _much, halt) => halt.shut(),
};

export const TROUBLE_NAMES: readonly string[] = Object.keys(TROUBLES);

export function suffer(chain: TroubledChain, { trouble = '', much }: Trouble, halt: Gate): void {
  const suffers = TROUBLES[trouble];
  if (suffers === undefined) throw new Error(`no endpoint suffers ${trouble}`);
  suffers(chain, Number(much), halt);
}

export function recover({ endpoint, lag, nodes }: TroubledChain): void {
  endpoint.recover();
  endpoint.callsPerSecond = Number.POSITIVE_INFINITY;
  lag.clear();
  nodes.spread([0]);
}

function fails(fault: Fault): Suffer {
  return ({ endpoint }) => endpoint.fail(fault);
}
