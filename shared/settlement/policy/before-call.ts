import { type CallCase, firstCall, outcomeUnclear, timeIsLeft } from './answer-conditions.js';
import { GIVE_UP, GIVEN_UP } from './answer-decisions.js';
import type { Decision } from './decision.js';
import { type Action, type ByRow, decideByRows, type Rows } from './decision-table.js';
import { PAUSED_PROCESS_MARGIN_MS } from './limits.js';
import type { CalledPayment, Settings, Times } from './payment-state.js';

type BeforeCallStep = Decision | { kind: 'call' };
type BeforeCallAction = Action<CallCase, BeforeCallStep>;

const call: BeforeCallAction = { text: 'call `/settle`', decide: () => ({ kind: 'call' }) };

const TOO_LATE = 'not asked again: the authorization is about to end';

const checkInstead: BeforeCallAction = {
  text: 'check the chain now',
  decide: ({ times: { now } }) => ({
    kind: 'check_again',
    at: now,
    patch: { settleEndedAt: now },
    said: { source: 'facilitator', said: TOO_LATE },
  }),
};

const giveUp: BeforeCallAction = {
  text: GIVE_UP,
  decide: () => ({ said: { source: 'service', said: TOO_LATE }, ...GIVEN_UP }),
};

/** The decision on a payment that was taken to be settled. */
export const BEFORE_CALL: Rows<CallCase, BeforeCallStep> = [
  { when: [firstCall], do: call, because: 'The payload was never sent.' },
  { when: [timeIsLeft], do: call, because: 'The payload can still be used in time.' },
  { when: [outcomeUnclear], do: checkInstead, because: 'An earlier call may have moved the money.' },
  { do: giveUp, certain: 'unsent', because: 'No call had an effect, and it is too late for another.' },
];

/** Undefined when the payment is to be sent to `/settle`. Its call is counted already. */
export function beforeCall(
  payment: CalledPayment,
  commitsMayBeLost: boolean,
  times: Pick<Times, 'now'>,
): ByRow<Decision> | undefined {
  const step = decideByRows('before-call', BEFORE_CALL, { payment, commitsMayBeLost, times });
  return step.kind === 'call' ? undefined : step;
}

/** A worker that stood still may have lost the payment: the call must end in time before another may take it. */
export function mayStillCall(
  { dueAt }: CalledPayment,
  { settleTimeoutMs }: Settings,
  { now }: Times,
): boolean {
  return dueAt !== null && now.getTime() + settleTimeoutMs + PAUSED_PROCESS_MARGIN_MS <= dueAt.getTime();
}
