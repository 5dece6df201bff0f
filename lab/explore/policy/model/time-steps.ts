import type { Setting } from '../setting/setting.js';
import { FAR_END } from '../setting/ticks.js';
import type { Play, Steps } from './step.js';
import { timeJumps } from './time-jumps.js';
import { CALL_TICKS, type Caller, type Checker, type Payload, type Payment, type World } from './world.js';

/** A tick passes. The chain advances or halts, and calls and transactions in flight continue or do not. */
export function* timeSteps(world: World, { setting }: Play): Steps {
  const stood = world.head - 1;
  const live = -setting.clockAhead;
  const payments = world.payments.map(laterPayment);
  for (const head of setting.standsStill ? [live, stood] : [live])
    for (const payloads of fates(world.payloads, { stood, head, setting })) {
      const what = head === stood ? 'a tick passes, and the chain stands still' : 'a tick passes';
      const step = { what, world: { ...world, head, payloads, payments }, isHonest: head === live };
      yield step;
      yield* timeJumps(step, setting);
    }
}

interface Passing {
  stood: number;
  head: number;
  setting: Setting;
}

function* fates(payloads: readonly Payload[], passing: Passing): Generator<readonly Payload[]> {
  const [first, ...others] = payloads;
  if (first === undefined) yield [];
  else
    for (const rest of fates(others, passing))
      for (const one of fatesOf(first, passing)) yield [one, ...rest];
}

/**
 * A payload's possible changes in a tick: none, its call sends a transaction, or a transaction gets into the newest
 * block that accepts it.
 */
function* fatesOf(before: Payload, { stood, head, setting }: Passing): Generator<Payload> {
  const payload = laterPayload(before);
  yield payload;
  if (before.call !== null && !before.call.hasSent)
    yield { ...payload, isSent: true, call: payload.call && { ...payload.call, hasSent: true } };
  const block = head < payload.end ? head : stood;
  if (payload.use !== null || block >= payload.end) return;
  if (before.isSent) yield { ...payload, use: { by: 'payment', block } };
  if (setting.ownerCancels) yield { ...payload, use: { by: 'owner', block } };
}

function laterPayload(payload: Payload): Payload {
  const { end, use, call, callOver } = payload;
  return {
    ...payload,
    end: end === FAR_END ? FAR_END : end - 1,
    use: use && { ...use, block: use.block - 1 },
    call: call && call.since - 1 > -CALL_TICKS ? { ...call, since: call.since - 1 } : null,
    callOver: later(callOver),
  };
}

function laterPayment(payment: Payment): Payment {
  const { worker, lost, seen } = payment;
  return {
    ...payment,
    due: later(payment.due),
    unreadableSince: later(payment.unreadableSince),
    worker:
      worker && isAlive(worker)
        ? worker.kind === 'checking'
          ? laterChecker(worker)
          : laterCaller(worker)
        : null,
    lost: lost && isAlive(lost) ? laterCaller(lost) : null,
    unusedSeen: later(payment.unusedSeen),
    asked: later(payment.asked),
    ended: later(payment.ended),
    seen: { ...seen, silentSince: later(seen.silentSince), unusedSince: later(seen.unusedSince) },
  };
}

/** A process that stalls for longer never returns. */
const LONGEST_STANDSTILL = 3;

function isAlive({ since }: Caller | Checker): boolean {
  return since > -LONGEST_STANDSTILL;
}

function laterCaller(caller: Caller): Caller {
  return { ...caller, since: caller.since - 1 };
}

function laterChecker(checker: Checker): Checker {
  const { finding } = checker;
  return {
    ...checker,
    since: checker.since - 1,
    finding: 'head' in finding && finding.head !== null ? { ...finding, head: finding.head - 1 } : finding,
    unreadableSince: later(checker.unreadableSince),
    silentSince: later(checker.silentSince),
  };
}

function later(tick: number | null): number | null {
  return tick === null ? null : tick - 1;
}

/** A reorganisation: the newest block is replaced by another with its parent's time. */
export function* reorganisationSteps(world: World, { setting }: Play): Steps {
  const { head, payloads, wasReorganised } = world;
  if (!setting.reorganises || wasReorganised || head !== -setting.clockAhead) return;
  const without = payloads.map((payload) =>
    payload.use?.block === head ? { ...payload, use: null } : payload,
  );
  yield {
    what: 'the newest block is replaced',
    world: { ...world, head: head - 1, wasReorganised: true, payloads: without },
    isHonest: false,
  };
}
