import {
  BaseError,
  type Client,
  ContractFunctionZeroDataError,
  createClient,
  type Hex,
  type HttpTransport,
  http,
  InvalidParamsRpcError,
  isHash,
  numberToHex,
  type PublicRpcSchema,
  parseAbi,
  rpcSchema,
  TransactionReceiptNotFoundError,
} from 'viem';
import { getChainId, getTransactionReceipt, readContract } from 'viem/actions';
import { ChainUnreadable } from '../check/unreadable.js';
import type { EvmNetwork } from '../networks/networks.js';
import { MOST_IN_BATCH } from '../rpc/call-group.js';
import { readRpcError } from '../rpc/rpc-error.js';
import { type ChainFetch, tracedFetch } from '../rpc/rpc-fetch.js';

/** A later block time is in milliseconds. */
const NO_TIME_IN_SECONDS = 2n ** 36n;

/** Chains of tests may leave the hash out. */
const NO_PARENT = /^(?:0x0*)?$/;

export interface EvmBlock {
  number: bigint;
  hash: Hex;
  /** Unix seconds. */
  timestamp: bigint;
  /** Whether the chain begins with this block: it has no parent. */
  isFirst: boolean;
}

export interface EvmLog {
  address: string;
  topics: readonly string[];
  data: string;
  logIndex: number;
  transactionHash: Hex;
}

export interface FoundLog extends EvmLog {
  blockNumber: number;
  /** Undefined where the endpoint leaves it out: only what replaces a receipt needs it. */
  blockHash: Hex | undefined;
}

export interface EvmReceipt {
  succeeded: boolean;
  blockNumber: bigint;
  blockHash: Hex;
  logs: EvmLog[];
}

export interface LogFilter {
  address: Hex | Hex[];
  /** The accepted values of each position; null accepts all. */
  topics: (Hex[] | null)[];
}

const AUTHORIZATION_STATE = parseAbi(['function authorizationState(address, bytes32) view returns (bool)']);
const BALANCE = parseAbi(['function balanceOf(address) view returns (uint256)']);
/** viem's log before it is parsed: fields are null while a block is pending. */
type UnparsedLog = {
  [Field in keyof EvmLog]: EvmLog[Field] | null;
};

/** The reads of an EVM chain that proving a payment needs. Each is one request without retries. */
export class EvmRpc {
  readonly #client: Client<HttpTransport, undefined, undefined, PublicRpcSchema>;
  readonly #network: EvmNetwork;

  /** `batched`: the reads of one turn of the event loop share one request. */
  constructor(network: EvmNetwork, url: string, fetch: ChainFetch, how: 'alone' | 'batched' = 'alone') {
    // `fetch` limits the time: its signal also aborts the reading of a body, which viem's own timeout does not.
    const batch = how === 'batched' && { batchSize: MOST_IN_BATCH };
    const transport = http(url, {
      fetchFn: tracedFetch(network.caip2, fetch),
      retryCount: 0,
      timeout: 0,
      batch,
    });
    this.#client = createClient({
      transport,
      cacheTime: 0,
      ccipRead: false,
      rpcSchema: rpcSchema<PublicRpcSchema>(),
    });
    this.#network = network;
  }

  async requireRightChain(): Promise<void> {
    const chainId = await getChainId(this.#client);
    if (chainId !== this.#network.chainId) {
      throw new ChainUnreadable(`the endpoint serves chain ${chainId}, not ${this.#network.chainId}`);
    }
  }

  async getHead(): Promise<EvmBlock> {
    const head = await this.#findBlock('latest');
    if (head === undefined) throw new ChainUnreadable('the endpoint has no newest block');
    return head;
  }

  async findBlock(number: bigint): Promise<EvmBlock | undefined> {
    const block = await this.#findBlock(numberToHex(number));
    if (block !== undefined && block.number !== number) {
      throw new ChainUnreadable(`asked for block ${number}, the endpoint answered ${block.number}`);
    }
    return block;
  }

  async findReceipt(transaction: Hex): Promise<EvmReceipt | undefined> {
    const receipt = await getTransactionReceipt(this.#client, { hash: transaction }).catch(
      (error: unknown) => {
        if (error instanceof TransactionReceiptNotFoundError) return undefined;
        throw error;
      },
    );
    // Some nodes return a receipt while the block is still pending.
    if (receipt === undefined || receipt.blockNumber === null) return undefined;
    if (typeof receipt.blockNumber !== 'bigint' || !isHash(receipt.blockHash)) {
      throw new ChainUnreadable('the endpoint answered a malformed receipt');
    }
    const { status, blockNumber } = receipt;
    const logs = receipt.logs.map(parseLog);
    // A reverted transaction has no logs, so logs show success where the status is missing or has another form.
    const succeeded = status === 'success' || (status !== 'reverted' && logs.length > 0);
    if (receipt.transactionHash.toLowerCase() !== transaction.toLowerCase()) {
      throw new ChainUnreadable("the endpoint answered another transaction's receipt");
    }
    return { succeeded, blockNumber, blockHash: oneSpelling(receipt.blockHash), logs };
  }

  /**
   * Reads the state of exactly this block. The block is named by its hash, so that a node which lacks it or is on another
   * branch fails instead of answering from another state.
   */
  async isAuthorizationUsed(asset: Hex, from: Hex, nonce: Hex, block: EvmBlock): Promise<boolean> {
    try {
      return await readContract(this.#client, { ...stateOf(asset, from, nonce), blockHash: block.hash });
    } catch (error) {
      // Endpoints without EIP-1898 know blocks by number only.
      if (!hasCause(error, InvalidParamsRpcError)) throw error;
      return await this.wasAuthorizationUsed(asset, from, nonce, block.number);
    }
  }

  /** Reads the state of the block that the node has at this height, on whichever branch it is. */
  async wasAuthorizationUsed(asset: Hex, from: Hex, nonce: Hex, blockNumber: bigint): Promise<boolean> {
    return await readContract(this.#client, { ...stateOf(asset, from, nonce), blockNumber });
  }

  async balanceOf(asset: Hex, holder: Hex): Promise<bigint> {
    const call = { address: asset, abi: BALANCE, functionName: 'balanceOf', args: [holder] } as const;
    return await readContract(this.#client, call);
  }

  async findLogs(filter: LogFilter, oldest: number, newest: number): Promise<FoundLog[]> {
    const logs = await this.#client.request({
      method: 'eth_getLogs',
      params: [{ ...filter, fromBlock: numberToHex(oldest), toBlock: numberToHex(newest) }],
    });
    return logs.map((log) => {
      const blockNumber = Number(log.blockNumber);
      if (log.blockNumber === null || !Number.isSafeInteger(blockNumber))
        throw new ChainUnreadable('the endpoint answered a log without its block');
      const blockHash = isHash(log.blockHash ?? '') ? oneSpelling(log.blockHash ?? '') : undefined;
      return { ...parseLog({ ...log, logIndex: Number(log.logIndex) }), blockNumber, blockHash };
    });
  }

  async #findBlock(position: 'latest' | Hex): Promise<EvmBlock | undefined> {
    const params: ['latest' | Hex, false] = [position, false];
    const block = await this.#client.request({ method: 'eth_getBlockByNumber', params });
    if (block === null) return undefined;
    if (block.number === null || block.hash === null || !isHash(block.hash)) {
      throw new ChainUnreadable('the endpoint answered a malformed block');
    }
    const timestamp = BigInt(block.timestamp);
    if (timestamp > NO_TIME_IN_SECONDS) throw new ChainUnreadable('the endpoint answered a malformed block');
    const isFirst = NO_PARENT.test(block.parentHash ?? '');
    return { number: BigInt(block.number), hash: oneSpelling(block.hash), timestamp, isFirst };
  }
}

function parseLog({ address, topics, data, logIndex, transactionHash }: UnparsedLog): EvmLog {
  if (
    typeof address !== 'string' ||
    !Array.isArray(topics) ||
    typeof data !== 'string' ||
    logIndex === null ||
    !Number.isSafeInteger(logIndex) ||
    transactionHash === null ||
    !isHash(transactionHash)
  ) {
    throw new ChainUnreadable('the endpoint answered a malformed log');
  }
  return { address, topics, data, logIndex, transactionHash: oneSpelling(transactionHash) };
}

/** Hashes are compared as texts, and are in lower case from here on. */
function oneSpelling(hash: string): Hex {
  return `0x${hash.slice(2).toLowerCase()}`;
}

export function blockTime({ timestamp }: EvmBlock): Date {
  return new Date(Number(timestamp) * 1000);
}

/** Whether the node answered that it lacks the block's state, which another node or a retry may have. */
export function isStateMissing(error: unknown): boolean {
  const { kind } = readRpcError(error);
  return kind === 'behind' || kind === 'refused' || hasCause(error, ContractFunctionZeroDataError);
}

function stateOf(address: Hex, from: Hex, nonce: Hex) {
  return {
    address,
    abi: AUTHORIZATION_STATE,
    functionName: 'authorizationState',
    args: [from, nonce],
  } as const;
}

function hasCause(
  error: unknown,
  type: typeof ContractFunctionZeroDataError | typeof InvalidParamsRpcError,
): boolean {
  return error instanceof BaseError && error.walk((cause) => cause instanceof type) !== null;
}
