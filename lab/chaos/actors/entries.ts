/** What the actors write into their journals. Times are milliseconds of the one clock of this machine. */
export interface Answer {
  kind: 'answer';
  /** When the request was sent. */
  at: number;
  ms: number;
  request: 'create' | 'link' | 'pay' | 'replay' | 'endpoint' | 'refund';
  /** The name of the process that it was sent to. */
  web: string;
  /** 0: no answer came. */
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
  /** The buyer was told that this payment came to nothing, and will sign another one or go. */
  | { kind: 'told_failed'; at: number; sessionId: string; nonce: string; code: string | undefined }
  | { kind: 'left'; at: number; sessionId: string; outcome: Outcome };

/** `sessionId` may be a refund's, in all that links know. `nonce` is the authorization's, or the hash of the Solana message; `validBefore` is in seconds. */
export interface Signing {
  kind: 'signed';
  at: number;
  sessionId: string;
  nonce: string;
  family: 'evm' | 'svm';
  validBefore: number;
}

export type Outcome = 'paid' | 'expired' | 'gave_up' | 'lost_patience';

/** A transfer that the chain carried out, or refused because its authorization was used. */
export interface Transfer {
  at: number;
  nonce: string;
  transaction: string;
  from: string;
  to: string;
  amount: string;
  succeeded: boolean;
}

export interface FacilitatorEntry {
  at: number;
  ms: number;
  endpoint: 'supported' | 'verify' | 'settle';
  nonce: string;
  mood: string;
  /** It said clearly that it failed, and the money moved. */
  lied: boolean;
  /** The process that called. */
  caller?: string | undefined;
  /** When the caller went before it was answered. */
  hungUpAfterMs?: number | undefined;
}

export interface Received {
  at: number;
  endpoint: string;
  verified: boolean;
  /** What it was answered: a status, or how the connection ended. */
  reaction: number | 'reset' | 'hang';
  eventId: string;
  type: string;
  created: number;
  sessionId: string;
  status: string;
  transaction: string | null;
}

/** What was done to the service, and what its processes did of themselves. */
export interface FaultEntry {
  /** When it began. */
  at: number;
  /** How long it lasted. */
  ms?: number;
  fault: string;
  detail?: string;
  /** The processes that suffered it; all of them when none is named. */
  services?: readonly string[];
  /** To what their connections did. */
  target?: string;
}

/** What the merchant did with webhook endpoints. */
export type EndpointEntry =
  | Answer
  | { kind: 'endpoint'; at: number; endpoint: string; is: 'enabled' | 'disabled' | 'deleted' };
