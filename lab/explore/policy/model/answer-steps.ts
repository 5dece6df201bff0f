import { dateAt } from '../setting/ticks.js';
import { carryOut } from './carry-out.js';
import { type Answer, afterAnswer, answersTo } from './facilitator.js';
import { operatorSettingsOf, paymentStateOf, timesOf } from './policy-inputs.js';
import type { Scene, Steps } from './step.js';
import { type Caller, withPayload, withPayment } from './world.js';

/** A call ends for its caller: with an answer, or because the caller is killed. */
export function* answerSteps(scene: Scene, worker: Caller): Steps {
  const { world, id, payment, payload, setting } = scene;
  const without = withPayment(world, id, { ...payment, worker: null });
  yield { what: 'a worker is killed in its call', world: without, isHonest: false };
  for (const answer of answersTo(payload, setting)) {
    const answered = afterAnswer(payload, answer.answer, worker.wasOutcomeUnclear);
    const next = withPayload(world, payment.payload, answered);
    yield* decideOnAnswer({ ...scene, world: next, payload: answered }, worker, answer);
  }
}

/** The caller decides by the row as it was when it took it. */
export function* decideOnAnswer(scene: Scene, worker: Caller, { answer, isHonest, another }: Answer): Steps {
  const { payment, payload, policy, setting } = scene;
  const { settleUnclear, isReported, since, wasOutcomeUnclear } = worker;
  const state = paymentStateOf({ ...payment, settleUnclear, isReported }, payload);
  const call = {
    answer,
    startedAt: dateAt(since),
    endedAt: dateAt(0),
    commitsMayBeLost: setting.forgets,
    another,
  };
  const decision = policy.afterCall(state, call, operatorSettingsOf(setting), timesOf(setting));
  const cause = { by: 'answer', answer, wasOutcomeUnclear } as const;
  const { world, became, rows, broken } = carryOut(scene, decision, cause);
  yield { what: `/settle says ${answer.kind}: ${became}`, world, rows, broken, isHonest };
}

/** Another worker has taken the row. Of all answers, the former worker passes on only a clear "settled". */
export function* lostAnswerSteps({ world, id, payment, payload, setting }: Scene): Steps {
  if (payment.lost?.kind !== 'calling') return;
  const without = { ...payment, lost: null };
  yield {
    what: 'a worker that lost its row is gone',
    world: withPayment(world, id, without),
    isHonest: true,
  };
  if (payload.use?.by !== 'payment' && !setting.boasts) return;
  const noted = { ...without, isReported: true, settleUnclear: false };
  yield {
    what: 'a worker that lost its row hears settled',
    world: withPayment(world, id, noted),
    isHonest: true,
  };
}
