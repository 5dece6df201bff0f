import type { Balancer, Fault, RpcEndpoint } from '../../world/chains/chain.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import type { Gate } from './gate.js';

/** Temporary faults of a chain's endpoint. */
export interface FaultyChain {
  endpoint: RpcEndpoint;
  lag: Map<string, number>;
  nodes: Balancer;
}

/** A fault as ordered: its name and its size. */
export type OrderedFault = Record<string, string>;
type ApplyFault = (chain: FaultyChain, much: number, halt: Gate) => void;

const ENDPOINT_FAULTS: Record<string, ApplyFault> = {
  cut: fails('cut'),
  'HTTP 500': fails('http_500'),
  'HTTP 429': fails('http_429'),
  'rate-limited': ({ endpoint }, much) => {
    endpoint.callsPerSecond = much;
  },
  'out of date': ({ lag }, much) => void lag.set('*', much),
  'two nodes, one out of date': ({ nodes }, much) => nodes.spread([0, much], seededRandom(much)),
  halted: (_chain, _much, halt) => halt.shut(),
};

export const ENDPOINT_FAULT_NAMES: readonly string[] = Object.keys(ENDPOINT_FAULTS);

export function applyFault(chain: FaultyChain, { fault = '', much }: OrderedFault, halt: Gate): void {
  const apply = ENDPOINT_FAULTS[fault];
  if (apply === undefined) throw new Error(`there is no endpoint fault ${fault}`);
  apply(chain, Number(much), halt);
}

export function recover({ endpoint, lag, nodes }: FaultyChain): void {
  endpoint.recover();
  endpoint.callsPerSecond = Number.POSITIVE_INFINITY;
  lag.clear();
  nodes.spread([0]);
}

function fails(fault: Fault): ApplyFault {
  return ({ endpoint }) => endpoint.fail(fault);
}
