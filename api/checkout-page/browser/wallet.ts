import type { PayableEntry } from '../page-data.js';
import type { Cause } from '../words/causes.js';

/** What a wallet tells by itself. */
export interface WalletChanges {
  /** Another account is the one that pays; undefined: none is connected any more. */
  account(address: string | undefined): void;
  network(): void;
}

/** A wallet as the page sees it, whichever of the ways it announced itself. */
export interface PageWallet {
  /** The same on every visit. */
  key: string;
  name: string;
  /** A data: URL of an image. */
  icon: string | undefined;
  family: PayableEntry['family'];
  /** The address that pays. Silently: without asking the buyer, and undefined when that is not possible. */
  connect(how: 'asking' | 'silently'): Promise<string | undefined>;
  /** Has the buyer choose the account that pays. */
  otherAccount(): Promise<unknown>;
  /** Who hears of its changes from now on, instead of whoever did before. */
  follow(changes: WalletChanges): void;
  /** On which it is, in CAIP-2; undefined for a wallet that is on all networks of its family. */
  network(): Promise<string | undefined>;
  switchTo(entry: PayableEntry): Promise<void>;
  /** In the token's smallest unit, of entries on its network, as it sees it. */
  balances(address: string, entries: readonly PayableEntry[]): Promise<Map<PayableEntry, bigint>>;
  /** The `payload` of an x402 payment, and until when it counts. */
  sign(entry: PayableEntry, address: string): Promise<SignedPayload>;
}

interface SignedPayload {
  payload: object;
  /** Unix seconds on the server's clock. */
  validUntil: number;
}

/** What stops a payment before it is sent, in words for the buyer. */
export class WalletProblem extends Error {
  readonly word: Cause;
  readonly values: Readonly<Record<string, string>>;

  constructor(word: Cause, values: Readonly<Record<string, string>> = {}) {
    super(word);
    this.word = word;
    this.values = values;
  }
}
