import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { Payment } from '../../../shared/payments/model.js';
import { Event } from '../../../shared/webhooks/model.js';
import type { LandedMove } from '../world/chain.js';
import { nonceOf, observe, type World } from '../world/world.js';
import { excuseOf } from './excuses.js';

/** The invariants of a trial that hold once nothing is due. */
export async function check(world: World): Promise<string[]> {
  await observe(world, undefined);
  const ids = [...world.sessionIds];
  const sessions = await CheckoutSession.query(world.system.db).whereIn('id', ids);
  const events = await Event.query(world.system.db).whereIn('payableId', ids);
  return [
    ...world.journal.violations,
    ...checkPayments(world),
    ...checkDenials(world),
    ...sessions.flatMap((session) => checkSession(world, session, typesOf(events, session))),
  ];
}

function typesOf(events: readonly Event[], { id }: CheckoutSession): string[] {
  return events.filter(({ payableId }) => payableId === id).map(({ type }) => type);
}

/**
 * Each movement of money is one succeeded payment, each succeeded payment has one, and a payment with a movement is
 * failed only with an excuse.
 */
function checkPayments({ payments, chain, journal }: World): string[] {
  const moved = new Map(chain.movements().map((move) => [move.nonce, move]));
  const succeeded = payments.filter(({ status }) => status === 'succeeded');
  const proofs = succeeded.map(({ transaction }) => transaction);
  return [
    ...payments.filter(({ status }) => status === 'processing').map(({ id }) => `${id} is left undecided`),
    ...[...moved.values()].flatMap((move) => checkMove(move, succeeded)),
    ...succeeded
      .filter((payment) => moved.get(nonceOf(payment))?.transaction !== payment.transaction)
      .map(({ id, transaction }) => `${id} succeeded by ${transaction}, which moved nothing for it`),
    ...(new Set(proofs).size === proofs.length ? [] : ['one transaction proves two payments']),
    ...payments
      .filter((payment) => payment.failedAt !== null && moved.get(nonceOf(payment))?.paymentId === payment.id)
      .filter((payment) => excuseOf(journal, payment) === undefined)
      .map(({ id }) => `${id} was called failed, but its money has moved`),
  ];
}

function checkMove({ nonce, transaction }: LandedMove, succeeded: readonly Payment[]): string[] {
  const count = succeeded.filter((payment) => nonceOf(payment) === nonce).length;
  return count === 1 ? [] : [`${transaction} moved money, and ${count} payments succeeded by it`];
}

/** A buyer is told that its money has not moved only if that is true, or if the failure has an excuse. */
function checkDenials({ journal, chain, payments }: World): string[] {
  return journal.denials.flatMap(({ nonce, words, atMs, paymentIds }) => {
    const move = chain
      .movements()
      .find((one) => one.nonce === nonce && paymentIds.includes(one.paymentId ?? ''));
    const payment = payments.find(({ id }) => id === move?.paymentId);
    if (move === undefined || payment === undefined) return [];
    const hadFailed = journal.failedPayments.some((one) => one.paymentId === payment.id && one.atMs <= atMs);
    const isExcused = hadFailed && excuseOf(journal, payment) !== undefined;
    return isExcused ? [] : [`the buyer of ${payment.id}, whose money has moved, was told ${words}`];
  });
}

function checkSession(
  { payments }: World,
  { id, status, paymentId }: CheckoutSession,
  types: readonly string[],
): string[] {
  const own = payments.filter((one) => one.payableId === id && one.status === 'succeeded');
  const counted = own.filter(({ surplus }) => !surplus).map((payment) => payment.id);
  const violations: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) violations.push(`${id}: ${what}`);
  };
  const isComplete = status === 'complete';
  expect(isComplete || status === 'expired', `is left ${status}`);
  expect(isComplete === own.length > 0, `is ${status} with ${own.length} payments`);
  expect(counted.length <= 1, `${counted.length} payments count, of which all but one are surplus`);
  if (isComplete) expect(counted[0] === paymentId, `was completed by ${paymentId}, and ${counted[0]} counts`);
  expect(new Set(types).size === types.length, `has the events ${types}`);
  expect(
    types.includes('checkout.session.completed') === isComplete,
    `is ${status} with the events ${types}`,
  );
  expect(isComplete || types.includes('checkout.session.expired'), `is ${status} with the events ${types}`);
  return violations;
}
