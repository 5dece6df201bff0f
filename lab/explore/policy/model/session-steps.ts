import { carryOut } from './carry-out.js';
import { paymentStateOf, TRANSACTION, timesOf } from './policy-inputs.js';
import type { Play, Scene, Steps } from './step.js';
import { claimedPayment, freshPayload, type World } from './world.js';

/** The session's time ends, and buyers claim it. */
export function* sessionSteps(world: World, { setting }: Play): Steps {
  const { session, payments, payloads } = world;
  const isShared = setting.payments > 1 || setting.refusedFalsely > 0;
  if (isShared && !session.isOver)
    yield {
      what: "the session's time is over",
      world: { ...world, session: { ...session, isOver: true } },
      isHonest: true,
    };
  if (session.status !== 'open') return;
  if (session.isOver) {
    const expired = { ...session, status: 'expired' } as const;
    yield { what: 'the session expires', world: { ...world, session: expired }, isHonest: true };
    return;
  }
  if (payments.length >= setting.payments + setting.refusedFalsely) return;
  const fresh = claimed(world, payloads.length);
  const another = { ...fresh, payloads: [...payloads, freshPayload(setting.end)] };
  yield { what: 'another payload claims the session', world: another, isHonest: true };
  for (const [index] of payloads.entries())
    if (payments.every(({ payload, isReleased }) => payload !== index || isReleased))
      yield {
        what: 'the same payload claims the session again',
        world: claimed(world, index),
        isHonest: true,
      };
}

function claimed(world: World, payload: number): World {
  const { session, payments } = world;
  return {
    ...world,
    session: { ...session, status: 'processing', paymentId: payments.length },
    payments: [...payments, claimedPayment(payload)],
  };
}

/** An operator states a truth that is certain; a worker that has the row loses it. */
export function* operatorSteps(scene: Scene): Steps {
  const { world, payment, payload, policy, setting } = scene;
  if (payment.status !== 'processing') return;
  const { use } = payload;
  const isPaid = use?.by === 'payment';
  if (use === null && world.head <= payload.end) return;
  if (isPaid && world.head - use.block + 1 < setting.confirmations) return;
  const { worker, lost } = payment;
  const taken = {
    ...payment,
    worker: null,
    lost: worker === null || worker.kind === 'checking' ? lost : worker,
  };
  const decision = policy.byOperator(
    paymentStateOf(payment, payload),
    isPaid ? { kind: 'paid', transaction: TRANSACTION } : { kind: 'failed', reason: 'resolved' },
    timesOf(setting),
  );
  const { became, ...done } = carryOut({ ...scene, payment: taken }, decision, { by: 'operator' });
  yield { what: `an operator says the truth: ${became}`, ...done, isHonest: false };
}
