import { findNetworkByV1Name } from '../chains/networks.js';
import { describeFailure, type Failure } from './failure-codes.js';
import { isJsonObject, type JsonObject, parseJsonObject } from './json-object.js';
import { pauseAskedFor } from './retry-after.js';
import type { SettleVerdict } from './settle-verdict.js';

/** The outcome of one HTTP call to the facilitator. */
export type FacilitatorReply =
  | { status: number; body: string; retryAfter?: string | undefined }
  | { error: unknown };

/** The call was not sent: the limit of calls is reached. `forMs`: when a slot or a turn may be free. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
  readonly forMs: number;

  constructor(forMs: number) {
    super('the limit of calls to the facilitator is reached');
    this.forMs = forMs;
  }
}

export type VerifyVerdict =
  | { kind: 'valid'; payer: string | undefined }
  | ({ kind: 'refused' } & Failure)
  /** `forMs`: when the facilitator may be called again, if known. */
  | { kind: 'unavailable'; why: string; forMs?: number };

/** A SettleVerdict, with the whole Failure of a refusal. */
export type SettleAnswer =
  | Exclude<SettleVerdict, { kind: 'rejected' }>
  | (Extract<SettleVerdict, { kind: 'rejected' }> & Failure);

/** Refused credentials and rate limits: the facilitator has not read the payment. */
const REFUSED_UNREAD = new Set([401, 403, 429]);

/** Statuses of a gateway whose facilitator did not answer, or not to the end. */
const GATEWAY_GAVE_UP = new Set([502, 504, 524]);

/** Failure reasons after which the money may have moved or may still move. */
const UNCLEAR =
  /(?:^settlement_pending|^duplicate_settlement|nonce_already_used|(?:^|_)transaction_failed|timed_out|not_confirmed)$/i;

const NAMES_NONCE = /nonce/i;

/** Failures that a used authorization gets too, perhaps used by an earlier call for the same payment. */
const IF_USED_TOO = new Set([
  'invalid_transaction_state',
  'unexpected_settle_error',
  'unexpected_verify_error',
]);

/** The token program's error 1 is insufficient funds. Facilitators report it in the message only. */
const SVM_SIMULATION_FAILED = 'invalid_exact_svm_transaction_simulation_failed';
const SVM_INSUFFICIENT_FUNDS = /"InstructionError":\["?2"?,\{"Custom":"?1"?\}\]/;

const NOTHING_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']);
/** Syscalls in which an established connection can fail too, with the same codes. */
const AFTER_CONNECTING = new Set<unknown>(['read', 'write']);

const UNSTORABLE = /[\p{Cc}\p{Cs}]/u;
const MAX_STORED_LENGTH = 500;

export function readVerifyAnswer(reply: FacilitatorReply): VerifyVerdict {
  if ('error' in reply) {
    const { error } = reply;
    const why = nameError(error);
    return { kind: 'unavailable', why, ...(error instanceof NotSent && { forMs: error.forMs }) };
  }
  if (REFUSED_UNREAD.has(reply.status) || !isVerdictStatus(reply.status)) {
    const forMs = pauseAskedFor(reply);
    return { kind: 'unavailable', why: `HTTP ${reply.status}`, ...(forMs !== undefined && { forMs }) };
  }
  const answer = parseJsonObject(reply.body);
  if (answer?.isValid === true) return { kind: 'valid', payer: readText(answer.payer) };
  if (answer?.isValid !== false) {
    return { kind: 'unavailable', why: `HTTP ${reply.status} without a boolean isValid` };
  }
  return { kind: 'refused', ...describeFailure(readInvalidReason(answer)) };
}

function readInvalidReason({ invalidReason, invalidMessage }: JsonObject): unknown {
  const lacksFunds =
    invalidReason === SVM_SIMULATION_FAILED &&
    typeof invalidMessage === 'string' &&
    SVM_INSUFFICIENT_FUNDS.test(invalidMessage);
  return lacksFunds ? 'insufficient_funds' : invalidReason;
}

/** `network` is that of the request, in CAIP-2. */
export function readSettleAnswer(reply: FacilitatorReply, network: string): SettleAnswer {
  if ('error' in reply) {
    const why = nameError(reply.error);
    if (reply.error instanceof NotSent) return { kind: 'postponed', why, forMs: reply.error.forMs };
    return wasNothingSent(reply.error)
      ? { kind: 'not_processed', why }
      : { ...unknown(why), mayStillRun: true };
  }
  const answer = parseJsonObject(reply.body);
  if (REFUSED_UNREAD.has(reply.status)) return readUnreadRefusal(reply.status, answer);
  if (answer !== undefined && isAnotherNetwork(answer.network, network)) return unknown('another network');
  const transaction = readText(answer?.transaction);
  if (!isVerdictStatus(reply.status)) {
    const mayStillRun = GATEWAY_GAVE_UP.has(reply.status) && typeof answer?.success !== 'boolean';
    return { ...unknown(`HTTP ${reply.status}`, transaction), mayStillRun };
  }
  if (answer?.success === true) {
    return transaction === undefined
      ? unknown('success without a transaction')
      : { kind: 'settled', transaction, payer: readText(answer.payer) };
  }
  if (answer?.success === false) return readSettleFailure(answer, transaction);
  return unknown(`HTTP ${reply.status} without a boolean success`, transaction);
}

/** Not processed, unless the body shows knowledge of the payment. */
function readUnreadRefusal(status: number, answer: JsonObject | undefined): SettleAnswer {
  const why = `HTTP ${status}`;
  const knows =
    answer !== undefined && (answer.success === true || namesTransaction(answer) || isPending(answer));
  if (!knows) return { kind: 'not_processed', why };
  return unknown(`${why} that knows of the payment`, readText(answer.transaction));
}

/** Searches all fields, also those of nested objects such as `error`. */
function isPending(answer: JsonObject): boolean {
  return Object.values(answer).some((value) =>
    isJsonObject(value) ? Object.values(value).some(saysPending) : saysPending(value),
  );
}

function saysPending(value: unknown): boolean {
  return typeof value === 'string' && (UNCLEAR.test(value) || /^pending$/i.test(value));
}

function namesTransaction({ transaction }: JsonObject): boolean {
  return ![undefined, null, ''].some((none) => none === transaction);
}

function readSettleFailure(answer: JsonObject, transaction: string | undefined): SettleAnswer {
  const { errorReason } = answer;
  const failure = describeFailure(errorReason);
  if (namesTransaction(answer)) return unknown(`${failure.reason} with a transaction`, transaction);
  if (typeof errorReason === 'string' && UNCLEAR.test(errorReason)) return unknown(failure.reason);
  return {
    kind: 'rejected',
    ifUsedToo: IF_USED_TOO.has(failure.code) || NAMES_NONCE.test(failure.reason),
    ...failure,
  };
}

function unknown(why: string, transaction?: string): Extract<SettleVerdict, { kind: 'unknown' }> {
  return { kind: 'unknown', why, transaction, mayStillRun: false };
}

function isVerdictStatus(status: number): boolean {
  return (status >= 200 && status < 300) || (status >= 400 && status < 500);
}

/** Empty, missing and non-string values pass, and version 1 names are understood. */
function isAnotherNetwork(value: unknown, network: string): boolean {
  if (typeof value !== 'string' || value === '' || value === network) return false;
  return findNetworkByV1Name(value)?.caip2 !== network;
}

/** Returns any text that the database can store. */
function readText(value: unknown): string | undefined {
  const isText =
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= MAX_STORED_LENGTH &&
    !UNSTORABLE.test(value);
  return isText ? value : undefined;
}

function wasNothingSent(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(wasNothingSent);
  if (!(error instanceof Error)) return false;
  const code = codeOf(error);
  if (code === undefined) return wasNothingSent(error.cause);
  const syscall = 'syscall' in error ? error.syscall : undefined;
  return syscall === 'connect' || (NOTHING_SENT.has(code) && !AFTER_CONNECTING.has(syscall));
}

export function nameError(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error';
  if (error instanceof NotSent) return error.message;
  const named = codeOf(error) ?? (error.cause instanceof Error ? codeOf(error.cause) : undefined);
  return named ?? error.name;
}

function codeOf(error: Error): string | undefined {
  return 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
