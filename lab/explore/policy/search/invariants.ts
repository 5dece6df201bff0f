import { canMove, type Payload, type World } from '../model/world.js';

/** The invariant that a world breaks; undefined when all hold. */
export function brokenInvariant(world: World): string | undefined {
  for (const [index, payload] of world.payloads.entries()) {
    const broken = brokenOf(payload, index, world);
    if (broken !== undefined) return broken;
  }
  return brokenOfSession(world);
}

/** Money that moves is one succeeded payment, or a payment that is watched for it. */
function brokenOf(payload: Payload, index: number, world: World): string | undefined {
  const own = world.payments.filter((payment) => payment.payload === index);
  const succeeded = own.filter(({ status }) => status === 'succeeded');
  if (succeeded.length > 1) return 'money that moved once is two payments';
  if (succeeded.length === 1)
    return payload.use?.by === 'payment' ? undefined : 'a payment has succeeded, and its money has not moved';
  const isLookedFor = own.some(({ stage, failed }) => stage !== null || failed === 'a week ago');
  return isLookedFor || !canMove(world, payload)
    ? undefined
    : 'money that has moved, or can still move, is not watched';
}

function brokenOfSession({ session, payments }: World): string | undefined {
  const { status, paymentId, latePaymentId } = session;
  const holder = paymentId === null ? undefined : payments[paymentId];
  const open = payments.filter((payment) => payment.status === 'processing');
  const counted = payments.filter((payment) => payment.status === 'succeeded' && !payment.isSurplus);
  if (status === 'processing' ? open.length !== 1 || open[0] !== holder : open.length > 0)
    return `the session is ${status}, and ${open.length} payments are open`;
  const isRight =
    status === 'complete'
      ? counted.length === 1 && counted[0] === holder
      : counted.length === (status === 'processing' && latePaymentId !== null ? 1 : 0);
  return isRight ? undefined : `the session is ${status}, and ${counted.length} payments have paid it`;
}

/** Every payment is decided, and nothing is due. */
export function isEnd({ payments, session }: World): boolean {
  return (
    session.status !== 'processing' &&
    payments.every(({ stage, worker, lost }) => stage === null && worker === null && lost === null)
  );
}

/** An authorization is used, and no endpoint shows by what: time never decides it, so an operator must. */
export function needsOperator({ payments, payloads }: World): boolean {
  return payments.some(({ status, payload }) => status === 'processing' && payloads[payload]?.use != null);
}
