import { settleEnd, type World } from '../model/world.js';
import type { Setting } from '../setting/setting.js';
import {
  FAR_DUE,
  FAR_END,
  isSomeMinutesAgo,
  LONG_AGO,
  LONGEST_WAIT,
  NEAR,
  SOME_MINUTES_AGO,
} from '../setting/ticks.js';

/**
 * Normalizes differences without an effect, so that equivalent worlds are equal. Of the past, the policy asks how long
 * ago it was, up to some limit, and whether the newest block came before or after it. The limits here are exactly
 * those: a spec shows that a longer memory finds the same worlds.
 */
export interface Forgetting {
  /** The head before normalization. */
  readonly oldHead: number;
  readonly head: number;
  readonly setting: Setting;
}

export function forgetting(world: World, setting: Setting): Forgetting {
  return { oldHead: world.head, head: headOf(world, setting), setting };
}

/** While the chain is halted: the latest time with the same relation to each end, of an authorization or a call. */
function headOf({ head, payloads, payments }: World, setting: Setting): number {
  const live = -setting.clockAhead;
  if (head >= live) return live;
  let latest = live;
  for (const [index, { end, callOver }] of payloads.entries()) {
    const owners = payments.filter(({ payload }) => payload === index);
    if (owners.some(({ status }) => status === 'succeeded')) continue;
    if (head <= end) latest = Math.min(latest, authorizationEnd(end, setting) - (head < end ? 1 : 0));
    if (owners.some(({ status }) => status === 'processing'))
      latest = Math.min(latest, endNotBefore(head, callOver, setting));
  }
  for (const payment of payments) latest = Math.min(latest, endNotBefore(head, settleEnd(payment), setting));
  return latest;
}

function endNotBefore(head: number, call: number | null, setting: Setting): number {
  return call === null || head > call ? Number.POSITIVE_INFINITY : callEnd(call, setting);
}

export function authorizationEnd(
  end: number,
  { stallsBefore, reorganises, clockAhead, memory }: Setting,
): number {
  const longest = stallsBefore === 'write' ? 4 : reorganises ? 3 : 2;
  return end > NEAR ? FAR_END : Math.max(end, -longest - clockAhead - memory);
}

function callEnd(call: number, setting: Setting): number {
  const { end, stallsBefore, lags, reorganises, clockAhead, memory } = setting;
  if (end === FAR_END) {
    if (call <= -LONGEST_WAIT) return LONG_AGO;
    return isSomeMinutesAgo(call, memory) ? SOME_MINUTES_AGO : call;
  }
  const longest = stallsBefore === 'write' ? 4 : lags || reorganises ? 2 : 1;
  return Math.max(call, -longest - clockAhead - memory);
}

/** A time before the newest block stays before it. */
export function pastCall(call: number, { oldHead, head, setting }: Forgetting): number {
  const end = callEnd(call, setting);
  return oldHead > call ? Math.min(end, head - 1) : end;
}

export function ageOfUse(block: number, { oldHead, setting }: Forgetting, wasReorganised: boolean): number {
  const longest = setting.reorganises && !wasReorganised ? 2 : 1;
  return Math.min(oldHead - block, longest + setting.memory);
}

/** Lateness matters only for a check during a silence. */
export function dueTime(due: number, isSilent: boolean, { memory }: Setting): number {
  return due > NEAR ? FAR_DUE : Math.max(due, isSilent ? -2 - memory : 0);
}

export function notLongerAgo(tick: number | null, ticks: number, { memory }: Setting): number | null {
  return tick === null ? null : Math.max(tick, -ticks - memory);
}
