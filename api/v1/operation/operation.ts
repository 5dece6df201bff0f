import type { Principal } from '../../../shared/accounts/api-keys.js';
import type { IdempotentRequest } from '../../../shared/accounts/idempotency.js';
import type { RecentWrites } from '../../../shared/accounts/recent-writes.js';
import { retryLocked } from '../../../shared/db/busy.js';
import { noSuch } from '../../../shared/errors/refusal.js';
import { isIdShaped } from '../../../shared/values/ids.js';
import type { InputParser } from '../../input/input-parser.js';
import type { RawInput } from '../../input/normalize.js';
import { takeLongTurn } from '../../limits/long-turns.js';
import { type Answer, answerOnce, type IdempotencyDeps } from './answer-once.js';

/** The input of a /v1 operation, from an HTTP request or an MCP tool call. */
export interface Call {
  principal: Principal;
  /** The query of a GET or DELETE, the body of a POST. */
  input: RawInput;
  /** The id in the path; empty when the path has none. */
  id: string;
  idempotencyKey: string | undefined;
  /** The /v1 path. An idempotency key is bound to it. */
  path: string;
  /** True when the Accept header prefers text/csv. */
  wantsCsv: boolean;
  /** True when the body is long: reading, validating and storing it take a long turn each. */
  hasLargeBody: boolean;
}

/** Returns the response or throws a `Refusal`. HTTP routes and MCP tools call the same operation. */
export type Operation = (call: Call) => Promise<Answer>;

export function operation<T>(
  parse: InputParser<T>,
  act: (call: Call, input: T) => Promise<object | string | AsyncIterable<string>>,
): Operation {
  return async (call) => {
    const answer = await act(call, parse(call.input));
    const isText = typeof answer === 'string' || Symbol.asyncIterator in answer;
    return { text: isText ? answer : JSON.stringify(answer), isReplay: false };
  };
}

interface WritingDeps {
  recentWrites: RecentWrites;
}

/** An operation that writes: the account reads from the primary for a while after it. */
export function writingOperation<T>(
  { recentWrites }: WritingDeps,
  parse: InputParser<T>,
  act: (call: Call, input: T) => Promise<object>,
): Operation {
  const write = operation(parse, act);
  return (call) => recentWrites.around(call.principal.accountId, () => retryLocked(() => write(call)));
}

/** A write that accepts an idempotency key. `act` stores the response that it returns. */
export function idempotentOperation<T>(
  deps: IdempotencyDeps & WritingDeps,
  parse: InputParser<T>,
  act: (call: Call, input: T, idempotent: IdempotentRequest | undefined) => Promise<string>,
): Operation {
  return async (call) => {
    const input = parse(call.input);
    if (call.hasLargeBody) await takeLongTurn();
    const { principal, idempotencyKey, path } = call;
    const keyed = { input, idempotencyKey, path, principal, scope: principal };
    const write = (): Promise<Answer> =>
      answerOnce(deps, keyed, (idempotent) => act(call, input, idempotent));
    return await deps.recentWrites.around(principal.accountId, write);
  };
}

/** Refuses a malformed id without a query. */
export function objectId({ id }: Call, what: string): string {
  if (!isIdShaped(id)) throw noSuch(what, id);
  return id;
}
