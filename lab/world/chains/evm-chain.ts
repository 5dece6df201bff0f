import { decodeFunctionData, encodeFunctionResult, type Hex, numberToHex, parseAbi, zeroHash } from 'viem';
import { nowMs } from '../../../shared/process/clock.js';
import { Chain } from './chain.js';
import {
  type Block,
  Blocks,
  type LogQuery,
  matchesTopics,
  presentLog,
  randomHash,
  type Transaction,
} from './evm-blocks.js';
import {
  amountTo,
  canceledLog,
  type FakeAuthorization,
  type FakeLog,
  type FakeTransfer,
  hex,
  isSame,
  transferLog,
  usedLog,
  usedNonce,
  usesNonces,
  usesUp,
} from './evm-logs.js';
import { LOG_REFUSALS, type LogRefusal } from './log-refusals.js';
import type { RpcMethods } from './rpc-endpoint.js';
import { RpcError } from './rpc-error.js';

const ABI = parseAbi(['function authorizationState(address, bytes32) view returns (bool)']);

/**
 * An EVM chain with what EIP-3009 payments need: blocks with timestamps, transaction logs, and used authorizations.
 * Each transaction and each `mine` appends a block, whose time is the clock's plus `travel`, and never before its
 * parent's. The settings below give the endpoint the faults of real ones. `lag` also takes 'latest', for the head alone.
 */
export class EvmChain extends Chain {
  chainId: number;
  maxLogRange = Number.POSITIVE_INFINITY;
  /** The provider whose error eth_getLogs answers to a range that is too wide. */
  logRefusal: LogRefusal = 'named';
  /** A node has the state of this many blocks before its head. */
  keepsState = Number.POSITIVE_INFINITY;
  /** A node has this many blocks before its head, and block 0. */
  keepsBlocks = Number.POSITIVE_INFINITY;
  /** Whether a node that prunes has block 0. */
  keepsFirstBlock = true;
  /** Whether a block that the node has pruned is an error, in place of null. */
  refusesPrunedBlocks = false;
  /** The chain begins with this block. */
  firstBlock = 0;
  /** Makes eth_getLogs answer an empty list. */
  hidesLogs = false;
  /** eth_getLogs answers the first so many logs, without an error. */
  mostLogs = Number.POSITIVE_INFINITY;
  /** eth_getLogs refuses a search that finds more. */
  refusesLogsAbove = Number.POSITIVE_INFINITY;
  /** Makes eth_getTransactionReceipt answer null. */
  forgetsReceipts = false;
  /** Overrides the answer of authorizationState. */
  authorizationStateLie: boolean | undefined;
  /** Whether eth_call accepts a block by its hash (EIP-1898). */
  knowsBlockHashes = true;
  /** False adds transactions to the newest block. */
  minesEach = true;
  readonly #blocks = new Blocks();
  readonly #transactions = new Map<Hex, Transaction>();
  /** Transactions by the nonce that their logs use up. */
  readonly #byNonce = new Map<string, Transaction[]>();
  #offsetSeconds = 0;

  static async start(chainId: number): Promise<EvmChain> {
    return await new EvmChain(chainId).listen();
  }

  /** A chain without a port, reachable by `endpoint.fetch`. */
  static inProcess(chainId: number): EvmChain {
    return new EvmChain(chainId).withoutPort();
  }

  private constructor(chainId: number) {
    super();
    this.chainId = chainId;
    // The chain starts with two minutes of blocks.
    for (let age = 120; age >= 0; age -= 2) this.#append(Math.floor(nowMs() / 1000) - age);
  }

  get head(): Readonly<Block> {
    return this.#blocks.head;
  }

  /** Moves the chain's clock only; the next block shows it. */
  travel(seconds: number): void {
    this.#offsetSeconds += seconds;
  }

  mine(count = 1): void {
    for (let mined = 0; mined < count; mined += 1) {
      this.#append(Math.max(Math.floor(nowMs() / 1000) + this.#offsetSeconds, this.head.timestamp));
    }
  }

  /** Appends a block whose time is later than everything that has happened so far. */
  mineLater(): void {
    this.travel(1);
    this.mine();
  }

  /** Appends blocks with the given spacing after the head. */
  mineAt(secondsApart: number, count: number): void {
    for (let mined = 0; mined < count; mined += 1) this.#append(this.head.timestamp + secondsApart);
  }

  /** Mines a transaction in a block of its own, unless `minesEach` is false. Its logs count only when it succeeded. */
  execute(logs: readonly FakeLog[], outcome: 'success' | 'reverted' = 'success', hash = randomHash()): Hex {
    this.whenRunning(() => this.#execute(logs, outcome, hash));
    return hash;
  }

  #execute(logs: readonly FakeLog[], outcome: 'success' | 'reverted', hash: Hex): void {
    if (this.minesEach) this.mine();
    const numbered = this.#blocks.numbered(logs);
    const succeeded = outcome === 'success';
    const transaction = { hash, block: this.head, succeeded, logs: numbered };
    this.#transactions.set(hash, transaction);
    for (const nonce of new Set(logs.flatMap((log) => usedNonce(log) ?? []))) {
      this.#byNonce.set(nonce, [...this.#using(nonce), transaction]);
    }
  }

  /**
   * Settles an authorization as a facilitator's transaction does. A second transaction for the same authorization
   * reverts.
   */
  movePayment(transfer: FakeTransfer, name: string = randomHash()): Hex {
    const { asset, from, nonce } = transfer;
    const outcome = this.#isUsed(asset, from, nonce, this.head.number) ? 'reverted' : 'success';
    return this.execute([usedLog(transfer), transferLog(transfer)], outcome, hex(name));
  }

  /** The sum of the token's transfers to a wallet. */
  received(asset: string, wallet: string): bigint {
    return this.#canonicalLogs(asset).reduce((sum, log) => sum + amountTo(log, wallet), 0n);
  }

  cancelAuthorization(authorization: FakeAuthorization): Hex {
    return this.execute([canceledLog(authorization)]);
  }

  /** Replaces the transaction's block and all later ones by blocks without the transaction. */
  reorganise(transaction: Hex, receipt: 'kept' | 'dropped'): void {
    this.#blocks.replaceFrom(this.#transaction(transaction).block.number);
    if (receipt === 'dropped') this.#transactions.delete(transaction);
  }

  prune(keeps: number): void {
    this.keepsState = keeps;
  }

  protected methods(): RpcMethods {
    return {
      eth_chainId: () => numberToHex(this.chainId),
      eth_getBlockByNumber: ([position]) => this.presentBlock(String(position)),
      eth_getTransactionReceipt: ([hash]) => this.presentReceipt(String(hash)),
      eth_getLogs: ([query]) => this.#findLogs(query as LogQuery),
      eth_call: ([call, block]) => this.#call(call as { to: string; data: Hex }, block),
    };
  }

  #append(timestamp: number): void {
    if (!this.isHalted) this.#blocks.append(timestamp);
  }

  #using(nonce: string): readonly Transaction[] {
    return this.#byNonce.get(nonce) ?? [];
  }

  /** The height of the node that serves this request. Call it once per request. */
  #height(method: string): number {
    return Math.max(this.head.number - this.lagOf(method), 0);
  }

  #transaction(hash: Hex): Transaction {
    const transaction = this.#transactions.get(hash);
    if (transaction === undefined) throw new Error(`the chain has no transaction ${hash}`);
    return transaction;
  }

  #isUsed(asset: string, from: string, nonce: string, upTo: number): boolean {
    return this.#using(hex(nonce)).some(
      (transaction) =>
        transaction.block.number <= upTo &&
        this.#counts(transaction) &&
        transaction.logs.some((log) => isSame(log.address, asset) && usesUp(log, from, nonce)),
    );
  }

  #counts(transaction: Transaction): boolean {
    return transaction.succeeded && this.#blocks.hold(transaction.block);
  }

  #canonicalLogs(asset: string, upTo = this.head.number): FakeLog[] {
    const transactions = [...this.#transactions.values()].filter(
      (transaction) => transaction.block.number <= upTo && this.#counts(transaction),
    );
    return transactions.flatMap(({ logs }) => logs).filter(({ address }) => isSame(address, asset));
  }

  presentBlock(position: string): object | null {
    const height = this.#height('eth_getBlockByNumber');
    const number = position === 'latest' ? height - (this.lag.get('latest') ?? 0) : Number(position);
    const isPruned = number < height - this.keepsBlocks && !(number === 0 && this.keepsFirstBlock);
    if (isPruned && this.refusesPrunedBlocks) throw new RpcError(-32000, 'pruned history unavailable');
    if (number > height || number < this.firstBlock || isPruned) return null;
    const { hash, timestamp } = this.#blocks.at(number);
    const parentHash = number === this.firstBlock ? zeroHash : this.#blocks.at(number - 1).hash;
    return {
      number: numberToHex(number),
      hash,
      parentHash,
      timestamp: numberToHex(timestamp),
      transactions: [],
    };
  }

  presentReceipt(hash: string): object | null {
    const transaction = this.#transactions.get(hex(hash));
    const height = this.#height('eth_getTransactionReceipt');
    if (transaction === undefined || transaction.block.number > height || this.forgetsReceipts) return null;
    const { succeeded, logs } = transaction;
    return {
      transactionHash: transaction.hash,
      blockNumber: numberToHex(transaction.block.number),
      blockHash: transaction.block.hash,
      status: succeeded ? '0x1' : '0x0',
      // A real node has no logs for a reverted transaction.
      logs: logs.map((log) => presentLog(log, transaction)),
    };
  }

  #findLogs({ address, topics, fromBlock, toBlock }: LogQuery): object[] {
    const height = this.#height('eth_getLogs');
    const asked = Number(toBlock) - Number(fromBlock) + 1;
    if (asked > this.maxLogRange) throw LOG_REFUSALS[this.logRefusal](this.maxLogRange, asked);
    if (this.hidesLogs) return [];
    const newest = Math.min(Number(toBlock), height);
    const [nonce, ...more] = [topics[2] ?? []].flat();
    const isByNonce = nonce !== undefined && more.length === 0 && usesNonces(topics[0]);
    const among = isByNonce ? this.#using(hex(nonce)) : this.#transactions.values();
    const found = [...among].filter(
      (transaction) =>
        this.#counts(transaction) &&
        transaction.block.number >= Number(fromBlock) &&
        transaction.block.number <= newest,
    );
    const logs = found.flatMap((transaction) =>
      transaction.logs
        .filter(
          (log) => [address].flat().some((one) => isSame(log.address, one)) && matchesTopics(log, topics),
        )
        .map((log) => presentLog(log, transaction)),
    );
    if (logs.length > this.refusesLogsAbove) throw LOG_REFUSALS.results();
    return logs.slice(0, this.mostLogs);
  }

  #call({ to, data }: { to: string; data: Hex }, position: unknown): Hex {
    const { args } = decodeFunctionData({ abi: ABI, data });
    const number = this.#positionOf(position);
    const [from, nonce] = args;
    const isUsed = this.#isUsed(to, from, nonce, number);
    return encodeFunctionResult({ abi: ABI, result: this.authorizationStateLie ?? isUsed });
  }

  #positionOf(position: unknown): number {
    const height = this.#height('eth_call');
    const number = typeof position === 'string' ? this.#numberOf(position, height) : this.#named(position);
    if (number > height) {
      throw new RpcError(
        -32000,
        typeof position === 'string' ? 'header not found' : 'header for hash not found',
      );
    }
    if (number < height - this.keepsState) {
      throw new RpcError(-32000, `missing trie node 5ea1 (path ) state 0x5ea1 is not available`);
    }
    return number;
  }

  #numberOf(position: string, height: number): number {
    return position === 'latest' ? height : Number(position);
  }

  #named(position: unknown): number {
    if (!this.knowsBlockHashes) throw new RpcError(-32602, 'invalid argument 1: cannot unmarshal object');
    const { blockHash } = position as { blockHash: Hex };
    return this.#blocks.numberOf(blockHash) ?? Number.POSITIVE_INFINITY;
  }
}
