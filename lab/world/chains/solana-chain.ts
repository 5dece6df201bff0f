import { randomBytes } from 'node:crypto';
import { type AddressLookupTableAccount, Keypair } from '@solana/web3.js';
import { nowMs } from '../../../shared/process/clock.js';
import { toBase58 } from './base58.js';
import { Chain } from './chain.js';
import type { RpcMethods } from './rpc-endpoint.js';
import { RpcError } from './rpc-error.js';
import { type Commitment, commitmentAt, DEPTH, type Landed, LandedTransactions } from './solana-landed.js';
import { decode, presentMessage, presentMeta } from './solana-messages.js';

/**
 * A Solana cluster with what token payments need: slots with times, blockhashes with an age, and landed transactions. A
 * transaction is processed in the newest slot, confirmed 2 slots later, finalized after 32. Slots advance only by
 * `pass` and `travel`. The settings below give the endpoint the faults of real ones.
 */
interface Landing {
  signature?: string;
  /** Makes the transaction fail. */
  error?: object;
  /** The commitment that the transaction reaches at once; confirmed by default. */
  commitment?: Commitment;
  /** Amounts that token accounts receive from inner instructions. */
  receives?: Record<string, bigint>;
}

interface Config {
  commitment?: Commitment;
  minContextSlot?: number;
  limit?: number;
  before?: string;
  maxSupportedTransactionVersion?: number;
}

const FIRST_SLOT = 1_000_000;
const SLOTS_AT_START = 400;
const MS_PER_SLOT = 400;
const BLOCKHASH_SLOTS = 150;

export class SolanaChain extends Chain {
  /** The answer of getGenesisHash. */
  genesisHash: string;
  /** Signatures that getSignaturesForAddress leaves out. */
  readonly hiddenFromLists = new Set<string>();
  /** Signatures that getTransaction and getSignatureStatuses do not find. */
  readonly hiddenByName = new Set<string>();
  /** Hides every transaction from look-ups by signature. */
  hidesTransactions = false;
  /** Signatures of transactions whose version is newer than any that the caller supports. */
  readonly ofLaterVersion = new Set<string>();
  /** Whether getTransaction includes `meta`. */
  includesMeta = true;
  /** Whether `meta` includes token balances. */
  includesBalances = true;
  /** Whether `meta` names the accounts that lookup tables hold. */
  includesLoadedAddresses = true;
  /** The accounts that are found in a lookup table; a message with another table cannot land. */
  readonly lookupTables: AddressLookupTableAccount[] = [];
  /** Whether answers include block times. */
  includesTimes = true;
  /** Whether lists have the time 0 instead of the block's. */
  listsZeroTimes = false;
  /** Whether getTransaction names the version of the message. */
  includesVersions = true;
  /** Whether getTransaction ignores which versions the caller supports. */
  losesVersionLimit = false;
  /** Maximum number of entries in one list. */
  pageSize = 1000;
  /** The first slot that the endpoint has; 0 for an endpoint with the whole ledger. */
  ledgerFrom = 0;
  /** Whether an unknown `before` signature is an error, instead of an empty list. */
  refusesUnknownCursors = false;
  /** Whether getSignatureStatuses knows no transaction. */
  forgetsStatuses = false;
  /** How many slots getSignaturesForAddress is behind the rest of the node. */
  listLag = 0;
  /** Whether lists include memos. */
  listsMemos = true;
  /** Times by slot, from FIRST_SLOT on. */
  readonly #times: number[] = [];
  readonly #blockhashes = new Map<string, number>();
  readonly #landed = new LandedTransactions();
  readonly #messages = new Set<string>();
  #offsetMs = 0;

  /** Takes the network's CAIP-2 id. */
  static async start(network: string): Promise<SolanaChain> {
    return await new SolanaChain(network).listen();
  }

  /** A chain without a port, reachable by `endpoint.fetch`. */
  static inProcess(network: string): SolanaChain {
    return new SolanaChain(network).withoutPort();
  }

  private constructor(network: string) {
    super();
    this.genesisHash = `${network.slice('solana:'.length)}wcaWoxPkrZBG`;
    for (let age = SLOTS_AT_START; age >= 0; age -= 1) this.#times.push(nowMs() - age * MS_PER_SLOT);
  }

  /** The time of the newest slot. */
  get time(): Date {
    return new Date(this.#times.at(-1) ?? 0);
  }

  get slot(): number {
    return FIRST_SLOT + this.#times.length - 1;
  }

  /** Advances slots without moving the clock. */
  pass(slots: number): void {
    if (this.isHalted) return;
    for (let passed = 0; passed < slots; passed += 1) {
      this.#times.push(Math.max(nowMs() + this.#offsetMs, this.#times.at(-1) ?? 0));
    }
  }

  /** Moves the chain's clock only, with the slots of that time. */
  travel(seconds: number): void {
    const slots = Math.ceil((seconds * 1000) / MS_PER_SLOT);
    for (let passed = 0; passed < slots; passed += 1) {
      this.#offsetMs += MS_PER_SLOT;
      this.pass(1);
    }
  }

  issueBlockhash(blockhash = Keypair.generate().publicKey.toBase58()): string {
    this.#blockhashes.set(blockhash, this.slot);
    return blockhash;
  }

  /** Lands the buyer's signed transaction, as a facilitator does. The same message a second time is refused. */
  movePayment(signedTransaction: string, landing: Landing = {}): string {
    const transaction = decode(signedTransaction);
    const { message } = transaction;
    const key = Buffer.from(message.serialize()).toString('hex');
    if (this.#messages.has(key)) throw new Error('AlreadyProcessed');
    this.#messages.add(key);
    const { signature = toBase58(randomBytes(64)), error = null, receives = {} } = landing;
    this.pass(1);
    this.#land({ signature, ...transaction, error, receives });
    this.pass(DEPTH[landing.commitment ?? 'confirmed']);
    return signature;
  }

  /** Lands many confirmed transactions that name the same accounts. */
  landMany(signedTransaction: string, count: number): void {
    const transaction = decode(signedTransaction);
    const prefix = toBase58(randomBytes(60)).slice(0, 78);
    for (let landed = 0; landed < count; landed += 1) {
      const signature = `${prefix}${synthetic(landed)}`;
      this.#land({ signature, ...transaction, error: null, receives: {} });
    }
    this.pass(DEPTH.confirmed);
  }

  /** The sum of TransferChecked instructions into a token account. */
  received(account: string): bigint {
    return this.#landed.received(account);
  }

  prune(keeps: number): void {
    this.ledgerFrom = Math.max(this.slot - keeps, 0);
  }

  #land(transaction: Omit<Landed, 'slot' | 'loaded' | 'memo' | 'order'>): void {
    const { message } = transaction;
    if (this.isHalted) throw new Error('the cluster is halted');
    const loaded =
      message.version === 0
        ? message.resolveAddressTableLookups(this.lookupTables)
        : { writable: [], readonly: [] };
    this.#landed.add({ ...transaction, slot: this.slot, loaded });
  }

  protected methods(): RpcMethods {
    return {
      getGenesisHash: () => this.genesisHash,
      getSlot: ([config]) => this.#height('getSlot', config as Config),
      getBlockTime: ([slot]) => this.#timeAt(Number(slot)),
      getFirstAvailableBlock: () => this.ledgerFrom,
      isBlockhashValid: ([blockhash, config]) => this.#judgeBlockhash(String(blockhash), config as Config),
      getSignatureStatuses: ([signatures]) => ({
        context: { slot: this.#height('getSignatureStatuses', {}) },
        value: (signatures as string[]).map((signature) => this.#presentStatus(signature)),
      }),
      getTransaction: ([signature, config]) => this.#presentTransaction(String(signature), config as Config),
      getSignaturesForAddress: ([address, config]) => this.#list(String(address), config as Config),
    };
  }

  #height(method: string, { commitment = 'finalized', minContextSlot = 0 }: Config = {}): number {
    const height = this.slot - DEPTH[commitment] - this.lagOf(method);
    if (height < minContextSlot) throw new RpcError(-32016, 'Minimum context slot has not been reached');
    return height;
  }

  #timeAt(slot: number): number | null {
    const height = this.#height('getBlockTime', { commitment: 'processed' });
    if (slot > height) throw new RpcError(-32004, `Block not available for slot ${slot}`);
    return this.#presentTime(slot);
  }

  #presentTime(slot: number): number | null {
    const time = this.#times[slot - FIRST_SLOT];
    if (time === undefined) throw new RpcError(-32004, `Block not available for slot ${slot}`);
    return this.includesTimes ? Math.floor(time / 1000) : null;
  }

  #judgeBlockhash(blockhash: string, config: Config): object {
    const slot = this.#height('isBlockhashValid', config);
    const age = slot - (this.#blockhashes.get(blockhash) ?? Number.POSITIVE_INFINITY);
    return { context: { slot }, value: age >= 0 && age <= BLOCKHASH_SLOTS };
  }

  get #included(): { balances: boolean; loadedAddresses: boolean } {
    return { balances: this.includesBalances, loadedAddresses: this.includesLoadedAddresses };
  }

  #find(signature: string, upTo: number): Landed | undefined {
    if (this.hidesTransactions || this.hiddenByName.has(signature)) return undefined;
    const landed = this.#landed.find(signature);
    return landed !== undefined && landed.slot <= upTo && landed.slot >= this.ledgerFrom ? landed : undefined;
  }

  #presentStatus(signature: string): object | null {
    if (this.forgetsStatuses) return null;
    const height = this.#height('getSignatureStatuses', { commitment: 'processed' });
    const landed = this.#find(signature, height);
    if (landed === undefined) return null;
    const { slot, error } = landed;
    const age = height - slot;
    const confirmationStatus = commitmentAt(age);
    const confirmations = confirmationStatus === 'finalized' ? null : age;
    return { slot, err: error, confirmations, confirmationStatus };
  }

  #presentTransaction(signature: string, config: Config): object | null {
    const landed = this.#find(signature, this.#height('getTransaction', config));
    if (landed === undefined) return null;
    if (this.ofLaterVersion.has(signature))
      throw new RpcError(-32015, 'Transaction version (7) is not supported');
    const { message, slot, signers } = landed;
    const takesVersion = config.maxSupportedTransactionVersion !== undefined && !this.losesVersionLimit;
    if (message.version !== 'legacy' && !takesVersion) {
      throw new RpcError(-32015, 'Transaction version (0) is not supported by the requesting client');
    }
    return {
      slot,
      blockTime: this.#presentTime(slot),
      ...(this.includesVersions && { version: message.version }),
      meta: this.includesMeta ? presentMeta(landed, this.#included) : null,
      transaction: {
        signatures: [signature, ...signers],
        message: presentMessage(message),
      },
    };
  }

  #list(address: string, config: Config): object[] {
    const height = this.#height('getSignaturesForAddress', config) - this.listLag;
    const { limit = 1000, before } = config;
    const all = this.#landed.of(address);
    let newest = all.length - 1;
    if (before !== undefined) {
      const cursor = this.#landed.find(before);
      if (cursor === undefined || cursor.slot > height || cursor.slot < this.ledgerFrom) {
        if (this.refusesUnknownCursors) throw new RpcError(-32020, `Transaction ${before} not found`);
        return [];
      }
      while (newest >= 0 && (all[newest]?.order ?? 0) >= cursor.order) newest -= 1;
    }
    const listed: object[] = [];
    for (let index = newest; index >= 0 && listed.length < Math.min(limit, this.pageSize); index -= 1) {
      const landed = all[index];
      if (landed === undefined || landed.slot < this.ledgerFrom) break;
      if (landed.slot > height || this.hiddenFromLists.has(landed.signature)) continue;
      listed.push(this.#presentEntry(landed));
    }
    return listed;
  }

  #presentEntry({ signature, slot, error, memo }: Landed): object {
    return {
      signature,
      slot,
      err: error,
      memo: this.listsMemos ? memo : null,
      blockTime: this.listsZeroTimes ? 0 : this.#presentTime(slot),
    };
  }
}

/** Ten characters of base58, different for each number. */
function synthetic(number: number): string {
  return toBase58(Buffer.from([1, (number >> 16) & 255, (number >> 8) & 255, number & 255])).padStart(
    10,
    '2',
  );
}
