import type { PayableEntry } from '../page-data.js';
import type { Cause } from '../words/causes.js';

/** A wallet as the page sees it, whichever of the two ways it announced itself. */
export interface PageWallet {
  /** The same on every visit. */
  key: string;
  name: string;
  /** A data: URL of an image. */
  icon: string | undefined;
  family: PayableEntry['family'];
  /** The address that pays. Silently: without asking the buyer, and undefined when that is not possible. */
  connect(how: 'asking' | 'silently'): Promise<string | undefined>;
  /** In the token's smallest unit, of those entries that can be read without asking the buyer. */
  balances(address: string, entries: readonly PayableEntry[]): Promise<Map<PayableEntry, bigint>>;
  /** Whether it has to change its network before it can sign for this entry. */
  needsSwitch(entry: PayableEntry): Promise<boolean>;
  switchTo(entry: PayableEntry): Promise<void>;
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
