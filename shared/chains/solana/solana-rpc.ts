import { randomUUID } from 'node:crypto';
import {
  Connection,
  type Finality,
  PublicKey,
  SolanaJSONRPCError,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import { isJsonObject } from '../../values/json-object.js';
import { ChainUnreadable } from '../check/unreadable.js';
import type { SvmNetwork } from '../networks/networks.js';
import { readJsonRpcError } from '../rpc/rpc-call.js';
import { isUnknownMethod } from '../rpc/rpc-error.js';
import { type ChainFetch, tracedFetch } from '../rpc/rpc-fetch.js';

/** The newest finalized block. */
export interface SolanaRoot {
  slot: number;
  time: Date;
}

/** `refused_version`: the endpoint has the transaction, and refuses a version that was asked for. */
export type LandedTransaction = VersionedTransactionResponse | 'later_version' | 'refused_version';
type SolanaCommitment = 'processed' | Finality;

export interface SolanaStatus {
  commitment: SolanaCommitment;
  hasFailed: boolean;
}

export interface SignatureEntry {
  signature: string;
  slot: number;
  blockTime: Date | undefined;
  memo: string | undefined;
}

/** The protocol's limit per page; an endpoint may send fewer. */
const SIGNATURES_PER_PAGE = 1000;
/** The amount in a token account's data, after mint and owner, in both token programs. */
const TOKEN_AMOUNT_OFFSET = 64;
/** How often the start of the ledger is asked for, one call after the other. */
const STARTS_ASKED = 8;
/** JSON-RPC error code: the transaction's version is later than the requested one. */
const UNSUPPORTED_TRANSACTION_VERSION = -32015;
/** An old node, or a proxy that drops the parameter, refuses version 0 by the same code. */
const LATER_VERSION = /version \(?[1-9]/i;

/** The reads of Solana that proving a payment needs. Each is one request without retries. */
export class SolanaRpc {
  readonly #connection: Connection;
  readonly #network: SvmNetwork;
  readonly #url: string;
  readonly #fetch: ChainFetch;

  constructor(network: SvmNetwork, url: string, fetch: ChainFetch) {
    this.#network = network;
    this.#url = url;
    this.#fetch = tracedFetch(network.caip2, fetch);
    this.#connection = new Connection(url, {
      fetch: this.#fetch,
      httpAgent: false,
      disableRetryOnRateLimit: true,
    });
  }

  /** A network's CAIP-2 reference is the start of its genesis hash. */
  async requireRightChain(): Promise<void> {
    const genesis = await this.#connection.getGenesisHash();
    if (`solana:${genesis.slice(0, 32)}` !== this.#network.caip2) {
      throw new ChainUnreadable('the endpoint serves another Solana cluster');
    }
  }

  async getRoot(): Promise<SolanaRoot> {
    const slot = await this.#connection.getSlot('finalized');
    return { slot, time: await this.getBlockTime(slot) };
  }

  /**
   * The time from which on the endpoint keeps all transactions; undefined when it keeps all or does not know the method.
   * Behind one URL may be nodes of which some keep fewer: `of_each_node` asks until one of them has likely answered.
   */
  async findLedgerStart(asked: 'once' | 'of_each_node'): Promise<Date | undefined> {
    let start = 0;
    for (let times = 0; times < (asked === 'once' ? 1 : STARTS_ASKED); times += 1)
      start = Math.max(start, await this.#findFirstSlot());
    return start === 0 ? undefined : await this.getBlockTime(start);
  }

  async #findFirstSlot(): Promise<number> {
    return await this.#connection.getFirstAvailableBlock().catch((error: unknown) => {
      if (isUnknownMethod(error)) return 0;
      throw error;
    });
  }

  async getBlockTime(slot: number): Promise<Date> {
    const seconds = await this.#connection.getBlockTime(slot);
    const time = parseBlockTime(seconds);
    if (time === undefined) throw new ChainUnreadable(`the endpoint has no time for slot ${slot}`);
    return time;
  }

  async getLatestBlockhash(): Promise<string> {
    const { blockhash } = await this.#connection.getLatestBlockhash('confirmed');
    return blockhash;
  }

  /** Reads the balances in the order of `accounts`; undefined for an account that does not exist. */
  async getTokenBalances(accounts: readonly string[]): Promise<(bigint | undefined)[]> {
    const keys = accounts.map((account) => new PublicKey(account));
    const found = await this.#connection.getMultipleAccountsInfo(keys, 'confirmed');
    return found.map((account) => {
      if (account === null || account.data.length < TOKEN_AMOUNT_OFFSET + 8) return undefined;
      return account.data.readBigUInt64LE(TOKEN_AMOUNT_OFFSET);
    });
  }

  /** Whether an account of any kind exists at each address, in the order of `accounts`. */
  async accountsExist(accounts: readonly string[]): Promise<boolean[]> {
    const keys = accounts.map((account) => new PublicKey(account));
    const found = await this.#connection.getMultipleAccountsInfo(keys, 'confirmed');
    if (found.length !== accounts.length)
      throw new ChainUnreadable('the endpoint did not answer for each account');
    return found.map((account) => account !== null);
  }

  /** Reads the state of a finalized block at or after `root`. */
  async isBlockhashValid(blockhash: string, root: SolanaRoot): Promise<boolean> {
    const config = { commitment: 'finalized', minContextSlot: root.slot } as const;
    const { context, value } = await this.#connection.isBlockhashValid(blockhash, config);
    if (context.slot < root.slot) throw new ChainUnreadable('the endpoint went back behind its own root');
    return value;
  }

  async findStatus(signature: string): Promise<SolanaStatus | undefined> {
    const config = { searchTransactionHistory: true };
    const { value } = await this.#connection.getSignatureStatuses([signature], config);
    const status = value[0];
    if (status === null || status === undefined) return undefined;
    // Old nodes send no confirmationStatus; null confirmations mean finalized.
    const commitment =
      status.confirmationStatus ?? (status.confirmations === null ? 'finalized' : 'processed');
    return { commitment, hasFailed: status.err !== null };
  }

  /** Reads the status off the transaction, where the endpoint keeps the transaction but no status of it. */
  async findFinality(signature: string): Promise<SolanaStatus | undefined> {
    const landed = await this.findTransaction(signature, 'finalized');
    if (typeof landed !== 'object' || landed.meta === null) return undefined;
    return { commitment: 'finalized', hasFailed: landed.meta.err !== null };
  }

  async findTransaction(
    signature: string,
    commitment: Finality = 'confirmed',
  ): Promise<LandedTransaction | undefined> {
    const config = { commitment, maxSupportedTransactionVersion: 0 } as const;
    try {
      const landed = await this.#connection.getTransaction(signature, config);
      if (landed !== null && landed.transaction.signatures[0] !== signature) {
        throw new ChainUnreadable('the endpoint answered another transaction');
      }
      return landed ?? undefined;
    } catch (error) {
      const isLater = error instanceof SolanaJSONRPCError && error.code === UNSUPPORTED_TRANSACTION_VERSION;
      if (!isLater) throw error;
      return LATER_VERSION.test(error.message) ? 'later_version' : 'refused_version';
    }
  }

  /** Newest first, from a node that has reached `minContextSlot`. */
  async findSignatures(
    address: string,
    commitment: Finality,
    minContextSlot: number,
    before: string | undefined,
  ): Promise<SignatureEntry[]> {
    const config = {
      commitment,
      limit: SIGNATURES_PER_PAGE,
      minContextSlot,
      ...(before !== undefined && { before }),
    };
    const found = await this.#call('getSignaturesForAddress', [address, config]);
    if (!Array.isArray(found)) throw new ChainUnreadable('the endpoint answered no list of signatures');
    return found.map(readSignature);
  }

  /** Reads a long answer without web3.js, which takes 130 ms of processor to check a full page of signatures. */
  async #call(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await this.#fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: randomUUID(), method, params }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}: ${text}`);
    const answer: unknown = JSON.parse(text);
    const entry = isJsonObject(answer) ? answer : {};
    const fault = readJsonRpcError(entry);
    if (fault !== undefined) throw new SolanaJSONRPCError({ code: fault.code, message: fault.message });
    return entry.result;
  }
}

function readSignature(entry: unknown): SignatureEntry {
  const { signature, slot, blockTime, memo } = isJsonObject(entry) ? entry : {};
  const isUsable =
    typeof signature === 'string' &&
    typeof slot === 'number' &&
    isAbsentOr(blockTime, 'number') &&
    isAbsentOr(memo, 'string');
  if (!isUsable) throw new ChainUnreadable('the endpoint listed a malformed signature');
  return {
    signature,
    slot,
    memo: typeof memo === 'string' ? memo : undefined,
    blockTime: parseBlockTime(blockTime),
  };
}

/** Undefined where the endpoint has no time: indexers answer 0 for a time that they lack. */
export function parseBlockTime(seconds: unknown): Date | undefined {
  return typeof seconds === 'number' && seconds > 0 ? new Date(seconds * 1000) : undefined;
}

function isAbsentOr(value: unknown, type: 'number' | 'string'): boolean {
  return value === undefined || value === null || typeof value === type;
}
