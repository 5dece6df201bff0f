import { randomBytes } from 'node:crypto';
import { type Hex, numberToHex } from 'viem';
import { type FakeLog, isSame } from './evm-logs.js';

export interface Block {
  number: number;
  hash: Hex;
  timestamp: number;
}

export interface Transaction {
  hash: Hex;
  /** The block that the receipt names; a reorganisation may have dropped it. */
  block: Block;
  succeeded: boolean;
  logs: (FakeLog & { logIndex: number })[];
}

/**
 * The number of unrelated logs earlier in the block, so that a log's index differs from its position in its
 * transaction.
 */
const LOGS_BEFORE = 7;

/** A chain of blocks from number 0 on. */
export class Blocks {
  readonly #blocks: Block[] = [];
  /** Includes blocks that a reorganisation dropped. */
  readonly #numbers = new Map<Hex, number>();
  #nextLogIndex = LOGS_BEFORE;

  get head(): Block {
    return this.at(this.#blocks.length - 1);
  }

  at(number: number): Block {
    const block = this.#blocks[number];
    if (block === undefined) throw new Error(`the chain has no block ${number}`);
    return block;
  }

  append(timestamp: number): void {
    this.#nextLogIndex = LOGS_BEFORE;
    this.#put(this.#blocks.length, timestamp);
  }

  /** Logs of the newest block, with the next indexes. */
  numbered(logs: readonly FakeLog[]): Transaction['logs'] {
    const first = this.#nextLogIndex;
    this.#nextLogIndex += logs.length;
    return logs.map((log, index) => ({ ...log, logIndex: first + index }));
  }

  /** Replaces this block and all later ones by others with the same timestamps. */
  replaceFrom(first: number): void {
    for (const { number, timestamp } of this.#blocks.slice(first)) this.#put(number, timestamp);
  }

  hold({ number, hash }: Block): boolean {
    return this.#blocks[number]?.hash === hash;
  }

  numberOf(hash: Hex): number | undefined {
    const number = this.#numbers.get(hash);
    return number !== undefined && this.#blocks[number]?.hash === hash ? number : undefined;
  }

  #put(number: number, timestamp: number): void {
    const hash = randomHash();
    this.#blocks[number] = { number, hash, timestamp };
    this.#numbers.set(hash, number);
  }
}

export interface LogQuery {
  address: string | string[];
  topics: (string | string[] | null)[];
  fromBlock: Hex;
  toBlock: Hex;
}

export function presentLog(log: FakeLog & { logIndex: number }, { hash, block }: Transaction): object {
  return {
    ...log,
    logIndex: numberToHex(log.logIndex),
    transactionHash: hash,
    blockNumber: numberToHex(block.number),
    blockHash: block.hash,
    removed: false,
  };
}

export function matchesTopics(log: FakeLog, topics: LogQuery['topics']): boolean {
  return topics.every((accepted, position) => {
    if (accepted === null) return true;
    return [accepted].flat().some((topic) => isSame(log.topics[position], topic));
  });
}

const RUN = randomBytes(24).toString('hex');
let hashes = 0;

/** A unique hash. Drawing all 32 bytes at random would dominate a test's running time. */
export function randomHash(): Hex {
  hashes += 1;
  return `0x${RUN}${hashes.toString(16).padStart(16, '0')}`;
}
