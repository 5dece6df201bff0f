import { MAX_SETTLE_CALLS } from '../../../../shared/settlement/policy/limits.js';
import { dateAt } from '../setting/ticks.js';
import { answerSteps, decideOnAnswer } from './answer-steps.js';
import { carryOut } from './carry-out.js';
import { effectsOf } from './facilitator.js';
import { operatorSettingsOf, paymentStateOf, timesOf } from './policy-inputs.js';
import type { Scene, Steps } from './step.js';
import {
  CALL_TICKS,
  type Caller,
  canMove,
  type Payload,
  type Payment,
  withPayload,
  withPayment,
} from './world.js';

/** A worker takes a payment that is due for `/settle`, and calls, or stalls before the call. */
export function* callSteps(scene: Scene): Steps {
  const { stage, due, worker, lost } = scene.payment;
  if (stage === 'settle' && due !== null && due <= 0)
    for (const settleCalls of callsAfter(scene.payment)) yield* takeSteps(scene, settleCalls);
  if (worker?.kind === 'stalled') yield* wakeSteps(scene, worker);
  if (worker?.kind === 'calling') yield* answerSteps(scene, worker);
  if (lost?.kind === 'stalled') yield* lostCallerSteps(scene, lost);
}

function* takeSteps(scene: Scene, settleCalls: number): Steps {
  const { world, id, payment, payload, policy, setting } = scene;
  const { asked, ended } = payment;
  const settleUnclear = payment.settleUnclear || (asked !== null && ended === null);
  const taken: Payment = {
    ...payment,
    stage: 'confirm',
    due: CALL_TICKS,
    settleUnclear,
    settleCalls,
    asked: 0,
    ended: null,
  };
  const next = { ...scene, payment: taken };
  const tooLate = policy.beforeCall(paymentStateOf(taken, payload), setting.forgets, timesOf(setting));
  if (tooLate !== undefined) {
    const { became, ...done } = carryOut(next, tooLate, { by: 'time' });
    yield { what: `too late to call again: ${became}`, ...done, isHonest: true };
    return;
  }
  const { isReported } = taken;
  const wasOutcomeUnclear = payload.isOutcomeUnclear;
  const worker: Caller = { kind: 'calling', since: 0, settleUnclear, isReported, wasOutcomeUnclear };
  if (setting.stallsBefore === 'call') {
    const stalled = withPayment(world, id, { ...taken, worker: { ...worker, kind: 'stalled' } });
    yield { what: 'a worker stands still before its call', world: stalled, isHonest: false };
  }
  const answer = { kind: 'postponed', why: 'its turn does not come in time', forMs: 0 } as const;
  yield* decideOnAnswer(next, worker, { answer, isHonest: false });
  yield* sendSteps(next, worker);
}

/** With an unclear outcome, the number of calls matters by whether the last one is reached, and by the pause: the shortest and the longest. */
function callsAfter({ settleCalls, settleUnclear, isReported }: Payment): number[] {
  const isOutcomeUnclear = settleUnclear || isReported;
  return isOutcomeUnclear && settleCalls > 1 ? [2, 5, MAX_SETTLE_CALLS] : [settleCalls + 1];
}

/** The `/settle` call begins. */
function* sendSteps(scene: Scene, worker: Caller): Steps {
  const { world, id, payment, setting } = scene;
  for (const { broken, payload } of callsOf(scene)) {
    const called = { ...payment, worker };
    const next = withPayload(withPayment(world, id, called), payment.payload, payload);
    if (setting.callsLast || broken !== undefined)
      yield { what: 'a worker calls /settle', world: next, isHonest: true, broken };
    else yield* answerSteps({ ...scene, world: next, payment: called, payload }, worker);
  }
}

interface Called {
  payload: Payload;
  broken: string | undefined;
}

function callsOf({ world, payload }: Scene): Called[] {
  const isAnotherUnderWay = world.payloads.some(
    (other) => other.call !== null && (other === payload || canMove(world, other)),
  );
  const broken = isAnotherUnderWay ? 'sent to /settle while another call may go on' : undefined;
  return effectsOf(payload, world).map((called) => ({ payload: called, broken }));
}

/** The worker stalled after it took the row; it may be too late to call. */
function* wakeSteps(scene: Scene, worker: Caller): Steps {
  const { world, id, payment } = scene;
  if (worker.since === 0) return;
  yield {
    what: 'a worker is killed before its call',
    world: withPayment(world, id, { ...payment, worker: null }),
    isHonest: false,
  };
  if (mayStillCall(scene, worker)) yield* sendSteps(scene, { ...worker, kind: 'calling' });
  else {
    const answer = { kind: 'not_processed', why: 'taken too long ago' } as const;
    yield* decideOnAnswer(scene, worker, { answer, isHonest: true });
  }
}

/** Another worker has taken the row in the meantime. */
function* lostCallerSteps(scene: Scene, lost: Caller): Steps {
  const { world, id, payment } = scene;
  const without = { ...payment, lost: null };
  yield {
    what: 'a worker that lost its row is gone',
    world: withPayment(world, id, without),
    isHonest: true,
  };
  if (!mayStillCall(scene, lost)) return;
  for (const { broken, payload } of callsOf(scene)) {
    const called = withPayment(world, id, { ...payment, lost: { ...lost, kind: 'calling' } });
    const next = withPayload(called, payment.payload, payload);
    yield { what: 'a worker that lost its row calls /settle', world: next, isHonest: true, broken };
  }
}

function mayStillCall({ payment, payload, policy, setting }: Scene, { since }: Caller): boolean {
  const state = { ...paymentStateOf(payment, payload), dueAt: dateAt(since + CALL_TICKS) };
  return policy.mayStillCall(state, operatorSettingsOf(setting), timesOf(setting));
}
