import { LaggingNode } from '../rpc/lagging-node.js';
import type { EvmBlock, EvmRpc } from './evm-rpc.js';

/** How often the head is asked for, one call after the other, so that each node behind one URL likely answers one. */
const HEADS_ASKED = 4;
/** The chain itself goes on between the calls. */
const MOST_SECONDS_APART = 60;

/** The lowest head of the nodes behind the URL, up to which each of them has the chain's logs. */
export async function readLowestHead(rpc: EvmRpc): Promise<EvmBlock> {
  let lowest = await rpc.getHead();
  let highest = lowest;
  for (let asked = 1; asked < HEADS_ASKED; asked += 1) {
    const head = await rpc.getHead();
    if (head.number < lowest.number) lowest = head;
    if (head.number > highest.number) highest = head;
  }
  if (Number(highest.timestamp - lowest.timestamp) > MOST_SECONDS_APART)
    throw new LaggingNode('a node of the endpoint is more than a minute behind another');
  return lowest;
}

/**
 * Throws when a node is behind the range of a search of logs that has just been answered: such a node answers no logs of the
 * blocks that it lacks, and another node may answer for the head.
 */
export async function requireReached(rpc: EvmRpc, upTo: number, by: 'one_node' | 'each_node'): Promise<void> {
  for (let asked = 0; asked < (by === 'one_node' ? 1 : HEADS_ASKED); asked += 1) {
    const { number } = await rpc.getHead();
    if (Number(number) < upTo) throw new LaggingNode('the endpoint is behind the blocks that it searched');
  }
}
