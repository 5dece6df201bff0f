import type { Principal } from '../../../shared/accounts/api-keys.js';
import type { IdempotentRequest } from '../../../shared/accounts/idempotency.js';
import type { RecentWrites } from '../../../shared/accounts/recent-writes.js';
import { noSuch } from '../../../shared/errors/refusal.js';
import { isIdShaped } from '../../../shared/values/ids.js';
import type { InputParser } from '../../input/input-parser.js';
import type { RawInput } from '../../input/normalize.js';
import { type Answer, answerOnce, type RepetitionDeps } from './answer-once.js';

/** What is asked of an operation of /v1, by a request or by a tool's call. */
export interface Call {
  principal: Principal;
  /** The query of what reads or deletes, the body of what adds or changes. */
  input: RawInput;
  /** Which object it is about; empty where it is about none. */
  id: string;
  idempotencyKey: string | undefined;
  /** The operation and its object as /v1 names them: what the key is good for. */
  path: string;
  /** The caller would rather have a table than JSON. */
  wantsCsv: boolean;
}

/** Gives the answer, or throws the refusal. A route and a tool call the same. */
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

export interface WritingDeps {
  recentWrites: RecentWrites;
}

/** One that changes what its account reads. */
export function writingOperation<T>(
  { recentWrites }: WritingDeps,
  parse: InputParser<T>,
  act: (call: Call, input: T) => Promise<object>,
): Operation {
  const write = operation(parse, act);
  return (call) => recentWrites.around(call.principal.accountId, () => write(call));
}

/** One that an idempotency key makes safe to repeat: `act` keeps the answer that it renders. */
export function repeatableOperation<T>(
  deps: RepetitionDeps & WritingDeps,
  parse: InputParser<T>,
  act: (call: Call, input: T, idempotent: IdempotentRequest | undefined) => Promise<string>,
): Operation {
  return async (call) => {
    const input = parse(call.input);
    const { principal, idempotencyKey, path } = call;
    const asked = { input, idempotencyKey, path, principal, scope: principal };
    const write = (): Promise<Answer> =>
      answerOnce(deps, asked, (idempotent) => act(call, input, idempotent));
    return await deps.recentWrites.around(principal.accountId, write);
  };
}

/** What cannot be an id is not looked up. */
export function objectId({ id }: Call, what: string): string {
  if (!isIdShaped(id)) throw noSuch(what, id);
  return id;
}
