import type { Setting } from '../setting.js';
import { comingNear } from './coming-near.js';
import type { Play, Steps } from './step.js';
import { FAR_END } from './ticks.js';
import { CALL_TICKS, type Caller, type Looker, type Payload, type Payment, type World } from './world.js';

/** A tick passes. The chain goes on or stands still, and so does each call that is in flight. */
export function* passing(world: World, { setting }: Play): Steps {
  const stood = world.head - 1;
  const live = -setting.clockAhead;
  const payments = world.payments.map(laterPayment);
  for (const head of setting.standsStill ? [live, stood] : [live])
    for (const payloads of fates(world.payloads, { stood, head, setting })) {
      const what = head === stood ? 'a tick passes, and the chain stands still' : 'a tick passes';
      const step = { what, world: { ...world, head, payloads, payments }, isHonest: head === live };
      yield step;
      yield* comingNear(step, setting);
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

/** In a tick a payload's call may send a transaction, or its transaction may get into the newest block that takes it. */
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
  const { hand, lost, seen } = payment;
  return {
    ...payment,
    due: later(payment.due),
    unreadableSince: later(payment.unreadableSince),
    hand: hand && isAlive(hand) ? (hand.kind === 'looking' ? laterLooker(hand) : laterCaller(hand)) : null,
    lost: lost && isAlive(lost) ? laterCaller(lost) : null,
    unusedSeen: later(payment.unusedSeen),
    asked: later(payment.asked),
    ended: later(payment.ended),
    seen: { ...seen, silentSince: later(seen.silentSince), unusedSince: later(seen.unusedSince) },
  };
}

/** A process that stands still for longer is never heard of again. */
const LONGEST_STANDSTILL = 3;

function isAlive({ since }: Caller | Looker): boolean {
  return since > -LONGEST_STANDSTILL;
}

function laterCaller(caller: Caller): Caller {
  return { ...caller, since: caller.since - 1 };
}

function laterLooker({ finding, ...looker }: Looker): Looker {
  return {
    ...looker,
    since: looker.since - 1,
    finding: 'head' in finding && finding.head !== null ? { ...finding, head: finding.head - 1 } : finding,
    unreadableSince: later(looker.unreadableSince),
    silentSince: later(looker.silentSince),
  };
}

function later(tick: number | null): number | null {
  return tick === null ? null : tick - 1;
}

/** The newest block is replaced by another, which is as old as the one before it. */
export function* reorganising(world: World, { setting }: Play): Steps {
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
