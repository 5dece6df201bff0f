import { AdaptivePace, type PaceOptions, type Started } from '../../limits/adaptive-pace.js';
import { MAX_WAITING_RPC_CALLS } from '../../limits/bounds.js';
import { parseRetryAfter } from '../../limits/retry-after.js';
import type { ChainCheck } from '../check/chain-check.js';
import { ChainUnreadable, EndpointLimits } from '../check/unreadable.js';
import { type CallAnswer, type CallGroup, groupCalls, splitAnswer } from './call-group.js';
import { EndpointSlots, type Slot, type SlotsOptions, type Turns } from './endpoint-slots.js';
import {
  answerCallers,
  type Caller,
  enterStage,
  type GroupAnswer,
  nextCalls,
  type QueuedCall,
} from './queued-call.js';
import { type RpcRequest, readRequest } from './rpc-call.js';
import type { ChainFetch } from './rpc-fetch.js';

interface EndpointQueueOptions extends SlotsOptions {
  send: ChainFetch;
  pace?: PaceOptions | undefined;
}

/** A check in the queue. `leave` ends its slot and its calls. */
export interface QueuedCheck {
  fetch: ChainFetch;
  leave(): void;
}

interface Flight {
  group: CallGroup<QueuedCall>;
  inBackground: boolean;
  cancel: AbortController;
}

/** Tries of one call while the endpoint limits. */
const TRIES = 3;
/** The pause without batches after a batch that was not answered whole. */
const NO_BATCH_MS = 300_000;
/** Requests without an answer, one after the other, after which an endpoint counts as silent. */
const UNANSWERED_REQUESTS = 3;
const SILENT = 'the endpoint has stopped answering, and another check is trying it';
const OVER = 'the check is over';
/** How many calls in the background are in flight, which may be slow searches. */
const IN_BACKGROUND = { most: 4, whileLimited: 1 };

/**
 * The calls of all chain checks to one RPC endpoint, whose rate is limited. A call waits until the endpoint's pace lets it
 * start. The check whose payment must be decided first goes first; of equals, the check that began first, so that checks end
 * one after the other. Background calls start only when no other call waits, and hold no slot that another call needs.
 * Waiting calls with the same question are one call. A call that has been sent is not shared: no check gets an answer that
 * was read before the check asked.
 */
export class EndpointQueue {
  readonly #send: ChainFetch;
  readonly #pace: AdaptivePace;
  readonly #slots: EndpointSlots;
  readonly #waiting = new Set<QueuedCall>();
  readonly #flights = new Map<QueuedCall, Flight>();
  #unanswered = 0;
  #limited = 0;
  #callsInBackground = 0;
  #noBatchUntilMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isDispatching = false;

  constructor({ send, pace, ...slots }: EndpointQueueOptions) {
    this.#send = send;
    this.#pace = new AdaptivePace(pace);
    this.#slots = new EndpointSlots(slots);
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#waiting.size;
  }

  get pausedMs(): number {
    return this.#pace.pausedMs;
  }

  /** How many answers have limited a call, since the process started. */
  get limited(): number {
    return this.#limited;
  }

  /** Throws at once when the check would wait in vain: its worker has other networks to look at. */
  enter(check: ChainCheck, { turnsWithinMs, ...turns }: Turns & { turnsWithinMs: number }): QueuedCheck {
    if (this.#unanswered >= UNANSWERED_REQUESTS && this.#slots.taken > 0) throw new ChainUnreadable(SILENT);
    if (this.#pace.pausedMs > turnsWithinMs) throw new EndpointLimits();
    const slot = this.#slots.take(check, turns, this.#pace.isLimited);
    // A single listener for all calls of the check, which may be many.
    const onCut = (): void => endCalls(slot, check.signal.reason);
    check.signal.addEventListener('abort', onCut);
    return {
      fetch: (input, init) => this.#ask(slot, input, init),
      leave: () => {
        check.signal.removeEventListener('abort', onCut);
        endCalls(slot, new ChainUnreadable(OVER));
        this.#slots.leave(slot);
      },
    };
  }

  async #ask(slot: Slot, input: string | URL | Request, init?: RequestInit): Promise<Response> {
    slot.check.signal.throwIfAborted();
    const request = readRequest(String(init?.body));
    if (this.#waiting.size >= MAX_WAITING_RPC_CALLS) throw this.#slots.sendAway();
    return await new Promise<Response>((resolve, reject) => {
      const call = this.#findSame(request) ?? {
        request,
        input,
        init,
        callers: new Set(),
        limits: 0,
        isAlone: false,
      };
      this.#addCaller(call, { slot, id: request.id, resolve, reject });
      this.#waiting.add(call);
      this.#dispatchSoon();
    });
  }

  #findSame({ key }: RpcRequest): QueuedCall | undefined {
    for (const call of this.#waiting) if (call.request.key === key) return call;
    return undefined;
  }

  #addCaller(call: QueuedCall, { slot, id, resolve, reject }: Omit<Caller, 'endStage'>): void {
    const settle = (end: () => void): void => {
      if (!call.callers.delete(caller)) return;
      slot.endCalls.delete(leave);
      caller.endStage();
      end();
    };
    const caller: Caller = {
      slot,
      id,
      resolve: (answer) => settle(() => resolve(answer)),
      reject: (error) => settle(() => reject(error)),
      endStage: this.#wait(slot),
    };
    const leave = (reason: unknown): void => {
      caller.reject(reason);
      if (call.callers.size === 0) this.#giveUp(call, reason);
    };
    slot.endCalls.add(leave);
    call.callers.add(caller);
  }

  #wait({ check }: Slot): () => void {
    return check.waitForTurn(() => (this.#pace.pausedMs > 0 ? new EndpointLimits() : this.#slots.sendAway()));
  }

  /** Drops a call without callers, and aborts its request when no call of its group has one. */
  #giveUp(call: QueuedCall, reason: unknown): void {
    this.#waiting.delete(call);
    if (this.#waiting.size === 0) clearTimeout(this.#timer);
    const flight = this.#flights.get(call);
    if (flight?.group.calls.every(({ callers }) => callers.size === 0)) flight.cancel.abort(reason);
  }

  /** Dispatches in the next turn of the event loop, so that calls made together leave together. */
  #dispatchSoon(): void {
    if (this.#isDispatching) return;
    this.#isDispatching = true;
    setImmediate(() => {
      this.#isDispatching = false;
      this.#dispatch();
    });
  }

  #dispatch(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const { calls, inBackground } = nextCalls(this.#waiting);
      const [first, ...others] = calls;
      if (first === undefined) return;
      const free = inBackground ? this.#freeInBackground() : this.#pace.free;
      if (free === 0) {
        const { waitMs } = this.#pace;
        if (waitMs > 0) this.#timer = setTimeout(() => this.#dispatch(), waitMs);
        return;
      }
      const group = groupCalls([first, ...others], free, performance.now() >= this.#noBatchUntilMs);
      void this.#fly({ group, inBackground, cancel: new AbortController() });
    }
  }

  #freeInBackground(): number {
    const most = this.#pace.isLimited ? IN_BACKGROUND.whileLimited : IN_BACKGROUND.most;
    return this.#pace.freeAmong(most - this.#callsInBackground);
  }

  async #fly(flight: Flight): Promise<void> {
    const { group, inBackground } = flight;
    for (const call of group.calls) {
      this.#waiting.delete(call);
      this.#flights.set(call, flight);
      for (const caller of call.callers) enterStage(caller, () => caller.slot.check.beginCall());
    }
    const started = this.#pace.start(group.weight, inBackground ? 0 : group.weight);
    if (inBackground) this.#callsInBackground += group.weight;
    const read = await this.#read(flight).catch((error: unknown) => ({ error }));
    if (inBackground) this.#callsInBackground -= group.weight;
    for (const call of group.calls) this.#flights.delete(call);
    if ('error' in read) this.#fail(flight, started, read.error);
    else this.#deliver(group, started, read);
    this.#dispatchSoon();
  }

  async #read({ group, cancel }: Flight): Promise<GroupAnswer> {
    const [first] = group.calls;
    if (first === undefined) throw new Error('a group of no calls');
    const { signal } = cancel;
    const response = await this.#send(first.input, { ...first.init, body: group.body, signal });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The request was not answered. */
  #fail({ group: { calls, kind }, inBackground }: Flight, started: Started, error: unknown): void {
    this.#pace.failed(started);
    if (kind === 'batch') this.#noBatchUntilMs = performance.now() + NO_BATCH_MS;
    const isGivenUp = calls.every(({ callers }) => callers.size === 0);
    // In the background an endpoint gets searches that may take longer than others wait.
    if (isGivenUp && !inBackground) this.#unanswered += 1;
    for (const { callers } of calls) for (const caller of callers) caller.reject(error);
  }

  #deliver(group: CallGroup<QueuedCall>, started: Started, read: GroupAnswer): void {
    this.#unanswered = 0;
    const answers = splitAnswer(group, read, this.#pace.isLimited);
    const limited = answers.filter(({ kind }) => kind === 'limited').length;
    this.#limited += limited;
    if (limited > 0) this.#pace.limited(started, parseRetryAfter(read.headers.get('retry-after')));
    else if (read.status >= 500) this.#pace.failed(started);
    else this.#pace.answered(started);
    const isIncomplete = answers.some(({ kind }) => kind === 'missing');
    if (isIncomplete && group.kind === 'batch') this.#noBatchUntilMs = performance.now() + NO_BATCH_MS;
    for (const [index, call] of group.calls.entries()) {
      const answer = answers[index];
      if (answer !== undefined) this.#settle(call, answer, read);
    }
  }

  #settle(call: QueuedCall, answer: CallAnswer, read: GroupAnswer): void {
    switch (answer.kind) {
      case 'missing':
        call.isAlone = true;
        this.#waitAgain(call);
        break;
      case 'limited':
        call.limits += 1;
        if (call.limits < TRIES) this.#waitAgain(call);
        else for (const { reject } of call.callers) reject(new EndpointLimits(answer.how));
        break;
      case 'answered':
        answerCallers(call, answer, read);
    }
  }

  #waitAgain(call: QueuedCall): void {
    if (call.callers.size === 0) return;
    for (const caller of call.callers) enterStage(caller, () => this.#wait(caller.slot));
    this.#waiting.add(call);
  }
}

function endCalls({ endCalls: ends }: Slot, reason: unknown): void {
  for (const end of ends) end(reason);
}
