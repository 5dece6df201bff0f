/** The entries of the actors' journals. Times are in milliseconds of this machine's clock. */
export interface Answer {
  kind: 'answer';
  /** When the request was sent. */
  at: number;
  ms: number;
  request: 'create' | 'link' | 'pay' | 'replay' | 'endpoint' | 'refund';
  /** The name of the web process. */
  web: string;
  /** 0 when no answer came. */
  status: number;
  code?: string | undefined;
  requestId?: string | undefined;
  sessionId?: string | undefined;
  nonce?: string | undefined;
}

export type BuyersEntry =
  | Answer
  | { kind: 'session'; at: number; sessionId: string }
  | { kind: 'refund'; at: number; refundId: string; paymentId: string }
  | Signing
  /** The buyer was told that this payment failed, and will sign another one or leave. */
  | { kind: 'told_failed'; at: number; sessionId: string; nonce: string; code: string | undefined }
  /** The buyer was told that this payment may have been taken, and pays no more. */
  | { kind: 'told_uncertain'; at: number; sessionId: string; nonce: string; code: string | undefined }
  | { kind: 'left'; at: number; sessionId: string; outcome: Outcome };

/**
 * `sessionId` may be a refund's id: a payment link serves both. `nonce` is the authorization's, or the hash of the
 * Solana message; `validBefore` is in seconds.
 */
export interface Signing {
  kind: 'signed';
  at: number;
  sessionId: string;
  nonce: string;
  family: 'evm' | 'svm';
  validBefore: number;
}

export type Outcome = 'paid' | 'expired' | 'gave_up' | 'timed_out' | 'uncertain' | 'gone';

/** A transfer that the chain executed, or refused because its authorization was used. */
export interface Transfer {
  at: number;
  nonce: string;
  transaction: string;
  from: string;
  to: string;
  amount: string;
  succeeded: boolean;
}

/** A transfer to the merchant that does not involve the service. */
export interface UnrelatedTransfer {
  at: number;
  transaction: string;
}

/** The journal of unrelated transfers, beside the chain's own. */
export function unrelatedJournalOf(journal: string): string {
  return journal.replace(/\.jsonl$/, '-unrelated.jsonl');
}

export interface FacilitatorEntry {
  at: number;
  ms: number;
  endpoint: 'supported' | 'verify' | 'settle';
  nonce: string;
  faultMode: string;
  /** The facilitator answered a clear failure although the money moved. */
  lied: boolean;
  /** The calling process. */
  caller?: string | undefined;
  /** Set when the caller hung up before the answer. */
  hungUpAfterMs?: number | undefined;
}

export interface Received {
  at: number;
  endpoint: string;
  verified: boolean;
  /** The signature is right, and its time is minutes off. */
  untimely?: boolean;
  /** The receiver's answer: a status, or how the connection ended. */
  reaction: number | 'reset' | 'hang';
  eventId: string;
  type: string;
  created: number;
  sessionId: string;
  status: string;
  transaction: string | null;
}

/** A fault that was injected, or a process that ended by itself. */
export interface FaultEntry {
  /** When it began. */
  at: number;
  /** Its duration. */
  ms?: number;
  fault: string;
  detail?: string;
  /** The affected processes; all of them when absent. */
  services?: readonly string[];
  /** The affected connections, by target. */
  target?: string;
}

/** A change of the merchant's webhook endpoints. */
export type EndpointEntry =
  | Answer
  | { kind: 'endpoint'; at: number; endpoint: string; is: 'enabled' | 'disabled' | 'deleted' };
