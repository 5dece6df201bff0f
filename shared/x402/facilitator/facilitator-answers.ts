import { findNetworkByV1Name } from '../../chains/networks/networks.js';
import { transactionName } from '../../chains/networks/text-forms.js';
import { parseRetryAfter } from '../../limits/retry-after.js';
import { isJsonObject, type JsonObject, parseJsonObject } from '../../values/json-object.js';
import { describeFailure, type Failure, OWN_CODES } from '../failure-codes.js';
import { meaningOf } from './settle-error-codes.js';
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
  /** `mayMeanUsed`: a used authorization would be refused with the same code. `saysUsed`: an unused one would seldom be. */
  | ({ kind: 'refused'; mayMeanUsed: boolean; saysUsed: boolean } & Failure)
  /** `forMs`: when the facilitator may be called again, if known. */
  | { kind: 'unavailable'; why: string; forMs?: number };

/** A SettleVerdict, with the whole Failure of a refusal. */
export type SettleAnswer =
  | Exclude<SettleVerdict, { kind: 'rejected' }>
  | (Extract<SettleVerdict, { kind: 'rejected' }> & Failure);

/** Refused credentials and rate limits: the facilitator has not read the payment. */
const REFUSED_UNREAD = new Set([401, 429]);
/** A 403 without a reason counts like these. With a reason, such as `kyt_risk_detected`, it is a verdict. */
const FORBIDDEN = 403;
/** A gateway gave up while it waited: the facilitator may have the payment. */
const REQUEST_TIMEOUT = 408;
/** The statuses whose Retry-After a facilitator, or a proxy before it, uses to ask for a pause. */
const ASKS_FOR_PAUSES = new Set([429, 503]);

/** Words in a refusal of credentials or of the rate that show knowledge of the payment. */
const KNOWS_OF_PAYMENT =
  /(?:^settlement_pending|^duplicate_settlement|nonce_already_used|(?:^|_)transaction_failed|timed_out|not_confirmed)$/i;

const NOT_SETTLED = /^(?:pending|timeout|failed|failure|error)$/i;
/** The names of the transaction in the answers of other versions. */
const TRANSACTION_NAMES = ['transaction', 'txHash', 'transactionHash'];

/** A used payload gets these too, but most that get them are unused. */
const SAID_OF_UNUSED = new Set(['insufficient_funds', 'invalid_payload']);

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
  const answer = withVerdict(reply, 'isValid', 'invalidReason');
  const isUnread = isRefusedUnread(reply.status, answer?.isValid === false && answer.invalidReason);
  if (isUnread || !isVerdictStatus(reply.status)) {
    const forMs = pauseAskedFor(reply);
    return { kind: 'unavailable', why: `HTTP ${reply.status}`, ...(forMs !== undefined && { forMs }) };
  }
  if (answer?.isValid === true) return { kind: 'valid', payer: readText(answer.payer) };
  if (answer?.isValid !== false) {
    return { kind: 'unavailable', why: `HTTP ${reply.status} without a boolean isValid` };
  }
  const failure = describeFailure(readInvalidReason(answer));
  // A refusal of the wallet or of the seller says nothing about an earlier use.
  const isAboutParties = failure.class === 'policy' || failure.class === 'seller';
  const mayMeanUsed = meaningOf(answer.invalidReason) !== 'refusal' && !isAboutParties;
  const saysUsed = mayMeanUsed && !SAID_OF_UNUSED.has(failure.code);
  return { kind: 'refused', mayMeanUsed, saysUsed, ...failure };
}

/** The answer's JSON. A 403 with a reason is a verdict, with or without its boolean. */
function withVerdict(
  { status, body }: Extract<FacilitatorReply, { status: number }>,
  verdict: 'isValid' | 'success',
  reason: 'invalidReason' | 'errorReason',
): JsonObject | undefined {
  const answer = parseJsonObject(body);
  const lacksIt = answer !== undefined && typeof answer[verdict] !== 'boolean';
  return lacksIt && status === FORBIDDEN && readText(answer[reason]) !== undefined
    ? { ...answer, [verdict]: false }
    : answer;
}

function isRefusedUnread(status: number, reason: unknown): boolean {
  return REFUSED_UNREAD.has(status) || (status === FORBIDDEN && readText(reason) === undefined);
}

function readInvalidReason({ invalidReason, invalidMessage }: JsonObject): unknown {
  const lacksFunds =
    invalidReason === SVM_SIMULATION_FAILED &&
    typeof invalidMessage === 'string' &&
    SVM_INSUFFICIENT_FUNDS.test(invalidMessage);
  if (lacksFunds) return 'insufficient_funds';
  return OWN_CODES.has(invalidReason) ? undefined : invalidReason;
}

/** `network` is that of the request, in CAIP-2. */
export function readSettleAnswer(reply: FacilitatorReply, network: string): SettleAnswer {
  if ('error' in reply) {
    const why = nameError(reply.error);
    if (reply.error instanceof NotSent) return { kind: 'postponed', why, forMs: reply.error.forMs };
    return wasNothingSent(reply.error) ? { kind: 'not_processed', why, isUnsent: true } : unanswered(why);
  }
  const { status } = reply;
  const answer = withVerdict(reply, 'success', 'errorReason');
  const transaction = readTransaction(answer?.transaction);
  if (isRefusedUnread(status, answer?.success === false && answer.errorReason))
    return readUnreadRefusal(status, answer);
  if (typeof answer?.success !== 'boolean')
    return unanswered(`HTTP ${status} without a boolean success`, transaction);
  if (isAnotherNetwork(answer.network, network)) return unknown('another network');
  if (!isVerdictStatus(status)) return unknown(`HTTP ${status}`, transaction);
  if (!answer.success) return readSettleFailure(answer, transaction);
  if (transaction === undefined) return unknown('success without a transaction');
  return contradictsSuccess(answer)
    ? unknown('success that the answer contradicts', transaction)
    : { kind: 'settled', transaction, payer: readText(answer.payer) };
}

/** The call was not processed, unless the body shows knowledge of the payment. */
function readUnreadRefusal(status: number, answer: JsonObject | undefined): SettleAnswer {
  const why = `HTTP ${status}`;
  if (answer === undefined || !knowsOfPayment(answer)) return { kind: 'not_processed', why };
  const said = `${why} that knows of the payment`;
  const transaction = readTransaction(answer.transaction);
  return typeof answer.success === 'boolean' ? unknown(said, transaction) : unanswered(said, transaction);
}

/** Names a transaction, or says success or pending. Some facilitators wrap their answers, so that all depths are searched. */
function knowsOfPayment(answer: JsonObject): boolean {
  const values: unknown[] = [answer];
  for (const value of values) {
    if (saysPending(value)) return true;
    if (isJsonObject(value) && (value.success === true || namesTransaction(value))) return true;
    if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) values.push(member);
  }
  return false;
}

/** Some facilitators send their answer before the transaction is in a block, and say so beside `success`. */
function contradictsSuccess({ errorReason, status }: JsonObject): boolean {
  return readText(errorReason) !== undefined || (typeof status === 'string' && NOT_SETTLED.test(status));
}

function saysPending(value: unknown): boolean {
  return typeof value === 'string' && (KNOWS_OF_PAYMENT.test(value) || /^pending$/i.test(value));
}

function namesTransaction(answer: JsonObject): boolean {
  return TRANSACTION_NAMES.some((name) => ![undefined, null, ''].some((none) => none === answer[name]));
}

function readSettleFailure(answer: JsonObject, transaction: string | undefined): SettleAnswer {
  const { errorReason } = answer;
  const failure = describeFailure(errorReason);
  if (namesTransaction(answer)) return unknown(`${failure.reason} with a transaction`, transaction);
  const meaning = meaningOf(errorReason);
  if (meaning === 'unclear') return unknown(failure.reason);
  if (knowsOfPayment(answer)) return unknown(`${failure.reason} that the answer contradicts`);
  return { kind: 'rejected', mayMeanUsed: meaning === 'refusal_if_unused', ...failure };
}

type Unknown = Extract<SettleVerdict, { kind: 'unknown' }>;

/** The facilitator has answered: its call is over. */
function unknown(why: string, transaction?: string): Unknown {
  return { kind: 'unknown', why, transaction, mayStillRun: false };
}

/** The facilitator itself has not answered: it may still be working on the call. */
function unanswered(why: string, transaction?: string): Unknown {
  return { ...unknown(why, transaction), mayStillRun: true };
}

function isVerdictStatus(status: number): boolean {
  return (status >= 200 && status < 300) || (status >= 400 && status < 500 && status !== REQUEST_TIMEOUT);
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

/** The pause in milliseconds that an answer asks for; undefined when it asks for none. */
export function pauseAskedFor(answer: {
  status: number;
  retryAfter?: string | undefined;
}): number | undefined {
  return ASKS_FOR_PAUSES.has(answer.status) ? parseRetryAfter(answer.retryAfter) : undefined;
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

function readTransaction(value: unknown): string | undefined {
  const text = readText(value);
  return text === undefined ? undefined : transactionName(text);
}
