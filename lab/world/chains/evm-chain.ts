import { decodeFunctionData, encodeFunctionResult, type Hex, numberToHex, parseAbi } from 'viem';
import { nowMs } from '../../../shared/process/clock.js';
import { Balancer, RpcEndpoint, RpcError } from './chain.js';
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
  usesUp,
} from './evm-logs.js';
import { LOG_REFUSALS, type LogRefusal } from './log-refusals.js';

const ABI = parseAbi(['function authorizationState(address, bytes32) view returns (bool)']);
/** Of logs that no transaction of interest made, so that log indexes are not those of the transaction. */
const LOGS_BEFORE = 7;

/**
 * An EVM chain as far as EIP-3009 payments go: blocks with times, the logs of transactions, and which authorizations
 * are used. A block is made by each transaction and by `mine`; its time is the clock's, moved by `travel`, and never
 * before its parent's. The dials below make the endpoint wrong in the ways real ones are.
 */
export class EvmChain {
  chainId: number;
  /** By method, or '*', or 'latest' for the head alone: answers from a node that is so many blocks behind. */
  readonly lag = new Map<string, number>();
  maxLogRange = Number.POSITIVE_INFINITY;
  /** In whose words eth_getLogs refuses more. */
  logRefusal: LogRefusal = 'named';
  /** Of so many blocks before its head a node has the state. */
  keepsState = Number.POSITIVE_INFINITY;
  /** And the blocks themselves. */
  keepsBlocks = Number.POSITIVE_INFINITY;
  readonly nodes = new Balancer();
  /** What eth_getLogs leaves out. */
  hidesLogs = false;
  /** What authorizationState says whatever is true. */
  authorizationStateLie: boolean | undefined;
  /** Whether eth_call takes a block by its hash (EIP-1898). */
  knowsBlockHashes = true;
  readonly #blocks = new Blocks();
  readonly #transactions = new Map<Hex, Transaction>();
  /** By what their logs use up. */
  readonly #byNonce = new Map<string, Transaction[]>();
  #offsetSeconds = 0;
  #isHalted = false;
  readonly #waiting: (() => void)[] = [];
  #endpoint: RpcEndpoint | undefined;

  static async start(chainId: number): Promise<EvmChain> {
    const chain = new EvmChain(chainId);
    chain.#endpoint = await RpcEndpoint.start(chain.#methods());
    return chain;
  }

  /** Without a port, asked by `endpoint.fetch`. */
  static inProcess(chainId: number): EvmChain {
    const chain = new EvmChain(chainId);
    chain.#endpoint = RpcEndpoint.inProcess(chain.#methods());
    return chain;
  }

  private constructor(chainId: number) {
    this.chainId = chainId;
    // Two minutes of blocks are there already.
    for (let age = 120; age >= 0; age -= 2) this.#append(Math.floor(nowMs() / 1000) - age);
  }

  get endpoint(): RpcEndpoint {
    if (this.#endpoint === undefined) throw new Error('the chain is not started');
    return this.#endpoint;
  }

  get head(): Readonly<Block> {
    return this.#blocks.head;
  }

  /** Moves the chain's clock, and nobody else's; the next block shows it. */
  travel(seconds: number): void {
    this.#offsetSeconds += seconds;
  }

  mine(count = 1): void {
    for (let mined = 0; mined < count; mined += 1) {
      this.#append(Math.max(Math.floor(nowMs() / 1000) + this.#offsetSeconds, this.head.timestamp));
    }
  }

  /** Makes no blocks from now on; transactions wait. */
  halt(): void {
    this.#isHalted = true;
  }

  /** Goes on where it stopped, with the transactions that wait. */
  goOn(): void {
    this.#isHalted = false;
    for (const execute of this.#waiting.splice(0)) execute();
  }

  /** Blocks at a pace of their own, the first one that long after the head. */
  mineAt(secondsApart: number, count: number): void {
    for (let mined = 0; mined < count; mined += 1) this.#append(this.head.timestamp + secondsApart);
  }

  /** A transaction in a block of its own; what it logged only counts when it succeeded. */
  execute(logs: readonly FakeLog[], outcome: 'success' | 'reverted' = 'success', hash = randomHash()): Hex {
    if (this.#isHalted) {
      this.#waiting.push(() => this.execute(logs, outcome, hash));
      return hash;
    }
    this.mine();
    const numbered = logs.map((log, index) => ({ ...log, logIndex: LOGS_BEFORE + index }));
    const succeeded = outcome === 'success';
    const transaction = { hash, block: this.head, succeeded, logs: numbered };
    this.#transactions.set(hash, transaction);
    for (const nonce of new Set(logs.flatMap((log) => usedNonce(log) ?? []))) {
      this.#byNonce.set(nonce, [...this.#using(nonce), transaction]);
    }
    return hash;
  }

  /** Settles an authorization, as a facilitator's transaction does: a second one for the same reverts. */
  movePayment(transfer: FakeTransfer, name: string = randomHash()): Hex {
    const { asset, from, nonce } = transfer;
    const outcome = this.#isUsed(asset, from, nonce, this.head.number) ? 'reverted' : 'success';
    return this.execute([usedLog(transfer), transferLog(transfer)], outcome, hex(name));
  }

  /** What the token's transfers have brought to a wallet. */
  received(asset: string, wallet: string): bigint {
    return this.#canonicalLogs(asset).reduce((sum, log) => sum + amountTo(log, wallet), 0n);
  }

  cancelAuthorization(authorization: FakeAuthorization): Hex {
    return this.execute([canceledLog(authorization)]);
  }

  /** Puts other blocks in the place of the transaction's and all later ones; it is in none of them. */
  reorganise(transaction: Hex, receipt: 'kept' | 'dropped'): void {
    this.#blocks.replaceFrom(this.#transaction(transaction).block.number);
    if (receipt === 'dropped') this.#transactions.delete(transaction);
  }

  async close(): Promise<void> {
    await this.endpoint.close();
  }

  #methods(): Record<string, (params: readonly unknown[]) => unknown> {
    return {
      eth_chainId: () => numberToHex(this.chainId),
      eth_getBlockByNumber: ([position]) => this.#presentBlock(String(position)),
      eth_getTransactionReceipt: ([hash]) => this.#presentReceipt(String(hash)),
      eth_getLogs: ([query]) => this.#findLogs(query as LogQuery),
      eth_call: ([call, block]) => this.#call(call as { to: string; data: Hex }, block),
    };
  }

  #append(timestamp: number): void {
    if (!this.#isHalted) this.#blocks.append(timestamp);
  }

  #using(nonce: string): readonly Transaction[] {
    return this.#byNonce.get(nonce) ?? [];
  }

  /** Of the node that this request meets: called once in each. */
  #height(method: string): number {
    const lag = (this.lag.get(method) ?? this.lag.get('*') ?? 0) + this.nodes.next();
    return Math.max(this.head.number - lag, 0);
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

  #presentBlock(position: string): object | null {
    const height = this.#height('eth_getBlockByNumber');
    const number = position === 'latest' ? height - (this.lag.get('latest') ?? 0) : Number(position);
    if (number > height || number < height - this.keepsBlocks) return null;
    const { hash, timestamp } = this.#blocks.at(number);
    return { number: numberToHex(number), hash, timestamp: numberToHex(timestamp), transactions: [] };
  }

  #presentReceipt(hash: string): object | null {
    const transaction = this.#transactions.get(hex(hash));
    if (transaction === undefined || transaction.block.number > this.#height('eth_getTransactionReceipt')) {
      return null;
    }
    const { succeeded, logs } = transaction;
    return {
      transactionHash: transaction.hash,
      blockNumber: numberToHex(transaction.block.number),
      blockHash: transaction.block.hash,
      status: succeeded ? '0x1' : '0x0',
      // A real node shows none of a reverted transaction.
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
    const among =
      nonce === undefined || more.length > 0 ? this.#transactions.values() : this.#using(hex(nonce));
    const found = [...among].filter(
      (transaction) =>
        this.#counts(transaction) &&
        transaction.block.number >= Number(fromBlock) &&
        transaction.block.number <= newest,
    );
    return found.flatMap((transaction) =>
      transaction.logs
        .filter((log) => isSame(log.address, address) && matchesTopics(log, topics))
        .map((log) => presentLog(log, transaction)),
    );
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
