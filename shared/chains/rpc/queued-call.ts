import { type CallAnswer, textFor, withId } from './call-group.js';
import { byUrgency, type Slot } from './endpoint-slots.js';
import type { RpcRequest } from './rpc-call.js';
import { BODYLESS } from './rpc-fetch.js';

/** A call in the queue of an endpoint, for all callers that ask the same. */
export interface QueuedCall {
  request: RpcRequest;
  input: string | URL | Request;
  init: RequestInit | undefined;
  callers: Set<Caller>;
  /** How often it was limited. */
  limits: number;
  isAlone: boolean;
}

export interface Caller {
  slot: Slot;
  id: unknown;
  resolve(answer: Response): void;
  reject(error: unknown): void;
  /** Ends the wait for a turn, or the flight. */
  endStage(): void;
}

/** The HTTP answer to a group of calls. */
export interface GroupAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** The calls that may start, the most urgent one first: those in the background only when no other waits. */
export function nextCalls(waiting: Iterable<QueuedCall>): { calls: QueuedCall[]; inBackground: boolean } {
  const inOrder = [...waiting]
    .flatMap((call) => {
      const [slot] = [...call.callers].map((caller) => caller.slot).sort(byUrgency);
      return slot === undefined ? [] : [{ call, slot }];
    })
    .sort((a, b) => byUrgency(a.slot, b.slot));
  const inBackground = inOrder[0]?.slot.inBackground === true;
  const next = inOrder.filter(({ slot }) => slot.inBackground === inBackground);
  return { calls: next.map(({ call }) => call), inBackground };
}

/** The next stage begins before the last one ends, so that the check's time is not counted in between. */
export function enterStage(caller: Caller, begin: () => () => void): void {
  const endLast = caller.endStage;
  caller.endStage = begin();
  endLast();
}

export function answerCallers(
  { callers, request }: QueuedCall,
  { entry }: Extract<CallAnswer, { kind: 'answered' }>,
  { status, headers, text }: GroupAnswer,
): void {
  const type = headers.get('content-type') ?? 'application/json';
  for (const { id, resolve, slot } of callers) {
    slot.hasBegun = true;
    const own = id === request.id ? text : withId(text, id);
    const body = entry === undefined ? own : textFor(id, entry);
    resolve(
      new Response(BODYLESS.includes(status) ? null : body, { status, headers: { 'content-type': type } }),
    );
  }
}
