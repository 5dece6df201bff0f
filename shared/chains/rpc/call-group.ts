import { isJsonObject, parseJsonObject } from '../../values/json-object.js';
import { parse, type RpcEntry, type RpcRequest, readJsonRpcError } from './rpc-call.js';
import { isRateLimit } from './rpc-error.js';

/**
 * Several calls in one HTTP request: a JSON-RPC batch of small reads, or one getSignatureStatuses with the signatures of all.
 * A call without an answer of its own in the group's answer is sent again alone.
 */
export interface CallGroup<C extends GroupedCall> {
  calls: readonly C[];
  /** How many calls the endpoint counts. */
  weight: number;
  body: string;
  kind: 'one' | 'batch' | 'statuses';
}

interface GroupedCall {
  request: RpcRequest;
  /** A group did not answer this call. */
  isAlone: boolean;
}

interface HttpAnswer {
  status: number;
  text: string;
}

export type CallAnswer =
  /** `entry`: the call's part of a group's answer. */
  { kind: 'answered'; entry?: RpcEntry } | { kind: 'limited'; how: string } | { kind: 'missing' };

/** Small and cheap reads. A search for logs is sent alone: it may be slow or refused. */
const BATCHED = new Set(['eth_call', 'eth_getBlockByNumber', 'eth_getTransactionReceipt']);
/** The smallest batch limit among endpoints that limit batches. */
export const MOST_IN_BATCH = 20;
const STATUSES = 'getSignatureStatuses';
/** The protocol's limit. */
const MOST_SIGNATURES = 256;

/** Groups the first call with others that may go with it, in their order, at most `free` as the endpoint counts them. */
export function groupCalls<C extends GroupedCall>(
  inOrder: readonly [C, ...C[]],
  free: number,
  takesBatches: boolean,
): CallGroup<C> {
  const [first] = inOrder;
  const { method, body } = first.request;
  if (method === STATUSES && !first.isAlone) return groupStatuses(inOrder);
  const most = Math.min(free, MOST_IN_BATCH);
  const calls = takesBatches && mayBatch(first) ? inOrder.filter(mayBatch).slice(0, most) : [first];
  if (calls.length < 2) return { calls: [first], weight: 1, body, kind: 'one' };
  const entries = calls.map((call, id) => ({
    jsonrpc: '2.0',
    id,
    method: call.request.method,
    params: call.request.params,
  }));
  return { calls, weight: calls.length, body: JSON.stringify(entries), kind: 'batch' };
}

function mayBatch({ isAlone, request }: GroupedCall): boolean {
  return !isAlone && BATCHED.has(request.method);
}

function groupStatuses<C extends GroupedCall>(inOrder: readonly [C, ...C[]]): CallGroup<C> {
  const [first] = inOrder;
  const calls: C[] = [];
  const signatures: unknown[] = [];
  for (const call of inOrder) {
    const more = signaturesOf(call);
    const isSameKind =
      call.request.method === STATUSES && !call.isAlone && configOf(call) === configOf(first);
    if (!isSameKind || more === undefined || signatures.length + more.length > MOST_SIGNATURES) continue;
    calls.push(call);
    signatures.push(...more);
  }
  const { id, params, body } = first.request;
  if (calls.length < 2) return { calls: [first], weight: 1, body, kind: 'one' };
  const merged = { jsonrpc: '2.0', id, method: STATUSES, params: [signatures, ...params.slice(1)] };
  return { calls, weight: 1, body: JSON.stringify(merged), kind: 'statuses' };
}

function signaturesOf({ request }: GroupedCall): readonly unknown[] | undefined {
  const [signatures] = request.params;
  return Array.isArray(signatures) ? signatures : undefined;
}

function configOf({ request }: GroupedCall): string {
  return JSON.stringify(request.params.slice(1));
}

/** The answers to the group's calls, in the order of the calls. */
export function splitAnswer<C extends GroupedCall>(
  { kind, calls }: CallGroup<C>,
  { status, text }: HttpAnswer,
  isLimiting: boolean,
): CallAnswer[] {
  const all = (answer: CallAnswer): CallAnswer[] => calls.map(() => answer);
  if (status === 429) return all({ kind: 'limited', how: 'it answered HTTP 429' });
  const value = parse(text);
  const whole = isJsonObject(value) ? value : undefined;
  const fault = readJsonRpcError(whole);
  const limits = (call: C, entry: RpcEntry | undefined): boolean => {
    const said = readJsonRpcError(entry);
    return said !== undefined && isRateLimit(call.request.method, said, isLimiting);
  };
  const judge = (call: C, entry: RpcEntry): CallAnswer =>
    limits(call, entry)
      ? { kind: 'limited', how: howLimited(entry) }
      : { kind: 'answered', entry: onlyError(entry) ?? entry };
  const [first] = calls;
  if (fault !== undefined && first !== undefined && limits(first, whole)) {
    return all({ kind: 'limited', how: howLimited(whole) });
  }
  const malformed = onlyError(whole);
  if (kind === 'one') return [{ kind: 'answered', ...(malformed && { entry: malformed }) }];
  const entries = kind === 'batch' ? entriesOfBatch(calls, value) : entriesOfStatuses(calls, whole);
  return calls.map((call, index) => {
    const entry = entries[index];
    return entry === undefined ? { kind: 'missing' } : judge(call, entry);
  });
}

/** An answer whose error is no object has no result: client libraries may take such an error for none. */
function onlyError(entry: RpcEntry | undefined): RpcEntry | undefined {
  const said = readJsonRpcError(entry);
  return said === undefined || isJsonObject(entry?.error) ? undefined : { jsonrpc: '2.0', error: said };
}

function howLimited(entry: RpcEntry | undefined): string {
  const code = readJsonRpcError(entry)?.code;
  return code === undefined ? 'it said so' : `it answered error ${code}`;
}

/** Finds each call's entry by its id, whatever the order. An entry without a result and without an error answers nothing. */
function entriesOfBatch(calls: readonly GroupedCall[], value: unknown): (RpcEntry | undefined)[] {
  const entries = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return calls.map((_, id) => {
    const named = entries.filter((entry) => entry.id === id);
    const [entry] = named;
    return named.length === 1 && entry !== undefined && ('result' in entry || isJsonObject(entry.error))
      ? entry
      : undefined;
  });
}

/** The statuses come in the order of the signatures: with another number of them, none can be told apart. */
function entriesOfStatuses(
  calls: readonly GroupedCall[],
  whole: RpcEntry | undefined,
): (RpcEntry | undefined)[] {
  const result = isJsonObject(whole?.result) ? whole.result : undefined;
  const statuses = Array.isArray(result?.value) ? result.value : [];
  const counts = calls.map((call) => signaturesOf(call)?.length ?? 0);
  if (statuses.length !== counts.reduce((sum, count) => sum + count, 0)) return calls.map(() => undefined);
  let from = 0;
  return counts.map((count) => {
    const value = statuses.slice(from, from + count);
    from += count;
    return { ...whole, result: { ...result, value } };
  });
}

/** The text of an answer for one caller. */
export function textFor(id: unknown, entry: RpcEntry): string {
  return JSON.stringify({ ...entry, id });
}

/** The same answer for another caller of the same call; text that is no JSON object stays as it is. */
export function withId(text: string, id: unknown): string {
  const entry = parseJsonObject(text);
  return entry === undefined ? text : textFor(id, entry);
}
