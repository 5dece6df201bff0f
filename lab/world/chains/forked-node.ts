import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';
import { parseJsonObject } from '../../../shared/values/json-object.js';
import type { EvmChain } from './evm-chain.js';

/** The part of a dropped branch that the node keeps: it has the branch, or its index of transactions alone was not mended. */
type KeptBranch = 'receipts' | 'receipts and blocks';

/** The answer to a call, by the call's method and parameters. */
type Answers = ReadonlyMap<string, unknown>;

/**
 * A node that missed a reorganisation, behind the URL of nodes that did not. It answers what it has of the branch that was
 * dropped, in each call for it; all other calls, the head's among them, reach the others.
 */
export class ForkedNode {
  readonly #chain: EvmChain;
  #answers: Answers = new Map();
  keeps: KeptBranch | undefined;

  constructor(chain: EvmChain) {
    this.#chain = chain;
  }

  /** Reads what it keeps of a transaction and its block, before a reorganisation drops both. `changes` falsify the receipt. */
  remember(transaction: string, changes: object = {}): void {
    const receipt: { blockNumber?: unknown } | null = this.#chain.presentReceipt(transaction);
    // The node that would remember was behind, and never had the block.
    if (receipt === null) return;
    const { blockNumber } = receipt;
    this.#answers = new Map<string, unknown>([
      [keyOf('eth_getTransactionReceipt', [transaction]), { ...receipt, ...changes }],
      [keyOf('eth_getBlockByNumber', [blockNumber, false]), this.#chain.presentBlock(String(blockNumber))],
    ]);
  }

  /** The chain's own `fetch`, with this node behind it. */
  readonly fetch: ChainFetch = async (input, init) => {
    const { id, method, params } = parseJsonObject(String(init?.body)) ?? {};
    const result = this.#answers.get(keyOf(method, params));
    const isKept = method === 'eth_getTransactionReceipt' || this.keeps === 'receipts and blocks';
    if (this.keeps === undefined || result === undefined || !isKept)
      return await this.#chain.endpoint.fetch(input, init);
    return Response.json({ jsonrpc: '2.0', id, result });
  };
}

function keyOf(method: unknown, params: unknown): string {
  return JSON.stringify([method, params]).toLowerCase();
}
