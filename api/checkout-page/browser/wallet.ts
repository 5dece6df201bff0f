import type { PayableEntry } from '../page-data.js';
import type { Cause } from '../words/causes.js';

/** Events of a wallet. */
export interface WalletChanges {
  /** The paying account changed; undefined when it was disconnected. */
  account(address: string | undefined): void;
  network(): void;
}

/** A wallet, whichever standard it was found by. */
export interface PageWallet {
  /** Constant across visits. */
  key: string;
  name: string;
  /** A data: URL of an image. */
  icon: string | undefined;
  family: PayableEntry['family'];
  /** Returns the paying address. `silently`: without a prompt; undefined when that is not possible. */
  connect(how: 'asking' | 'silently'): Promise<string | undefined>;
  /** Lets the buyer choose another account. */
  otherAccount(): Promise<unknown>;
  /** Replaces the subscriber for its events. */
  follow(changes: WalletChanges): void;
  /** The current network in CAIP-2; undefined for a wallet that is on all networks of its family. */
  network(): Promise<string | undefined>;
  switchTo(entry: PayableEntry): Promise<void>;
  /** Balances of entries on its current network, in smallest units. */
  balances(address: string, entries: readonly PayableEntry[]): Promise<Map<PayableEntry, bigint>>;
  /** Returns the `payload` of an x402 payment and when it expires. */
  sign(entry: PayableEntry, address: string, nonces: Nonces): Promise<SignedPayload>;
}

/** The nonces that the service made for this page. Each serves one payment on an EVM network. */
export interface Nonces {
  next(): Promise<string>;
}

interface SignedPayload {
  payload: object;
  /** Unix seconds on the server's clock. */
  validUntil: number;
}

/** A problem that prevents sending a payment, with a text for the buyer. */
export class WalletProblem extends Error {
  readonly word: Cause;
  readonly values: Readonly<Record<string, string>>;

  constructor(word: Cause, values: Readonly<Record<string, string>> = {}) {
    super(word);
    this.word = word;
    this.values = values;
  }
}
