import type { Setting } from '../setting/setting.js';
import {
  A_DAY_AGO,
  FAR_DUE,
  FAR_END,
  isSomeMinutesAgo,
  LONGEST_WAIT,
  SOME_MINUTES_AGO,
  SOON,
} from '../setting/ticks.js';
import type { Step, Steps } from './step.js';
import { CALL_TICKS, type Payload, type Payment, settleEnd, type World } from './world.js';

/** Values that were far in the future before a tick may be near after it. */
export function* timeJumps(step: Step, setting: Setting): Steps {
  const { payloads, payments } = step.world;
  if (payments.some(isFarDue)) yield { ...step, what: 'a far due time comes', world: withDue(step.world) };
  const isAllDecided = payments.every(({ status }) => status !== 'processing');
  if (isAllDecided && payments.some((payment) => isWatchedToTheEnd(payment, payloads, setting)))
    yield { ...step, what: 'a week passes', world: aWeekLater(step.world) };
  if (setting.endComes && payloads.some(({ end }) => end === FAR_END))
    yield { ...step, what: 'a far end comes near', world: withEnd(step.world) };
  if (payments.some((payment) => isLongSilent(payment, payloads)))
    yield { ...step, what: 'the endpoint has been silent for a day', world: withSilence(step.world) };
  const calls = [...payments.map(settleEnd), ...payloads.map(({ callOver }) => callOver)];
  if (
    setting.end === FAR_END &&
    calls.some((call) => call !== null && isSomeMinutesAgo(call + 1, setting.memory))
  )
    yield { ...step, what: 'the last call is almost 15 minutes ago', world: withWait(step.world) };
}

/** Whether the payment's chain may by now have been unreadable for a day, the only length that the policy asks about. */
function isLongSilent(
  { status, unreadableSince, worker, lost, payload: index }: Payment,
  payloads: readonly Payload[],
): boolean {
  const { end = 0, callOver = null } = payloads[index] ?? {};
  const isOver = end === FAR_END ? callOver !== null && callOver <= -LONGEST_WAIT : end < 0;
  const isIdle = worker === null && lost === null;
  return (
    status === 'processing' && isIdle && isOver && unreadableSince !== null && unreadableSince > A_DAY_AGO
  );
}

function withSilence(world: World): World {
  const payments = world.payments.map((payment) =>
    isLongSilent(payment, world.payloads)
      ? {
          ...payment,
          due: 0,
          unreadableSince: A_DAY_AGO,
          seen: { ...payment.seen, silentSince: payment.seen.silentSince === null ? null : A_DAY_AGO },
        }
      : payment,
  );
  return { ...world, payments };
}

function isFarDue({ due }: Payment): boolean {
  return due === FAR_DUE - 1;
}

function withDue(world: World): World {
  const payments = world.payments.map((payment) => (isFarDue(payment) ? { ...payment, due: 0 } : payment));
  return { ...world, payments };
}

function isWatchedToTheEnd(
  { failed, payload }: Payment,
  payloads: readonly Payload[],
  { endComes }: Setting,
): boolean {
  const isEnded = (payloads[payload]?.end ?? 0) <= -SOON;
  return failed === 'lately' && (isEnded || !endComes);
}

/** A session does not last a week. */
function aWeekLater(world: World): World {
  const payments = world.payments.map((payment) =>
    payment.failed === 'lately' ? { ...payment, failed: 'a week ago' as const } : payment,
  );
  return { ...world, session: { ...world.session, isOver: true }, payments };
}

function withEnd(world: World): World {
  const payloads = world.payloads.map((payload) => ({ ...payload, end: SOON }));
  return { ...world, payloads };
}

function withWait(world: World): World {
  const payloads = world.payloads.map((payload) => ({
    ...payload,
    end: aged(payload.end),
    use: payload.use && { ...payload.use, block: aged(payload.use.block) },
    callOver: payload.callOver === null ? null : aged(payload.callOver),
  }));
  const payments = world.payments.map((payment) => ({
    ...payment,
    asked: payment.asked === null ? null : aged(payment.asked + CALL_TICKS) - CALL_TICKS,
    ended: payment.ended === null ? null : aged(payment.ended),
  }));
  return { ...world, head: aged(world.head), payloads, payments };
}

/** Ages everything that was "some minutes ago" by this much, and keeps its order. */
const AGE = LONGEST_WAIT - SOON + SOME_MINUTES_AGO - 1;

function aged(tick: number): number {
  return tick <= -SOON ? tick - AGE : tick;
}
