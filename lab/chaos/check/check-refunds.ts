import type { Received } from '../journals/entries.js';
import { STEADY_ENDPOINT } from '../system/system.js';
import type { Evidence, PublicRefund } from './evidence.js';

/** Refunds never exceed the payment; each refund is paid once, and each change of its status has its event. */
export function checkRefunds(evidence: Evidence): string[] {
  const { refunds, buyers, ledger, forgotten, histories } = evidence;
  const violations: string[] = [];
  const known = new Set(buyers.flatMap((entry) => (entry.kind === 'refund' ? [entry.refundId] : [])));
  const signed = buyers.filter((entry) => entry.kind === 'signed');
  const refundOf = new Map(signed.map(({ nonce, sessionId }) => [nonce, sessionId]));
  const onEvm = new Set(signed.flatMap(({ family, sessionId }) => (family === 'evm' ? [sessionId] : [])));
  const paidBy = new Map<string, string[]>();
  for (const { nonce, transaction, succeeded } of ledger) {
    const id = refundOf.get(nonce);
    if (succeeded && id !== undefined) paidBy.set(id, [...(paidBy.get(id) ?? []), transaction]);
  }
  const recorded = new Set(histories.flatMap((one) => (one.status === 'succeeded' ? [one.transaction] : [])));
  for (const refund of refunds.values()) {
    const { id, status, transaction } = refund;
    const moved = paidBy.get(id) ?? [];
    if (!known.has(id)) violations.push(`${id} exists, and its creation was never answered`);
    if (status === 'pending') violations.push(`${id} is left pending`);
    if (status === 'succeeded' && (transaction === null || !moved.includes(transaction)))
      violations.push(
        `${id} succeeded by ${transaction}, and the ledger has ${moved.join(', ') || 'nothing'}`,
      );
    // A transfer to a buyer's wallet is recognised by its reference alone, and agents on EVM sign nonces of their own.
    if (status !== 'succeeded' && moved.length > 0 && !(forgotten.has(id) && onEvm.has(id)))
      violations.push(`${id} is ${status}, and ${moved.join(', ')} paid it`);
    // A facilitator's lie makes the buyer pay a refund twice: the service records the first transfer after the second.
    for (const one of forgotten.has(id) ? [] : moved)
      if (!recorded.has(one)) violations.push(`${one} paid ${id}, and no payment records it`);
    violations.push(...checkRefundEvents(refund, evidence));
  }
  for (const id of known)
    if (!refunds.has(id) && !forgotten.has(id))
      violations.push(`${id} was created and does not exist any more`);
  return [...violations, ...checkSums(evidence, refundOf)];
}

/**
 * Late money may exceed the payment: for a refund that was canceled before it arrived, or a second payment of one
 * refund.
 */
function checkSums(
  { refunds, payments, received, ledger, liedAbout, buyers, forgotten }: Evidence,
  refundOf: ReadonlyMap<string, string>,
): string[] {
  const canceled = new Set(received.flatMap((r) => (r.status === 'canceled' ? [r.sessionId] : [])));
  const lied = new Set([...liedAbout].map((nonce) => refundOf.get(nonce)));
  // A lost refund left its amount to be refunded again.
  const lost = new Set(
    buyers.flatMap((one) => (one.kind === 'refund' && forgotten.has(one.refundId) ? [one.paymentId] : [])),
  );
  return payments.flatMap(({ id, amount }) => {
    if (lost.has(id)) return [];
    const own = [...refunds.values()].filter(({ payment }) => payment === id);
    if (own.some((one) => canceled.has(one.id) || lied.has(one.id))) return [];
    const counted = own.filter(({ status }) => status !== 'canceled');
    const sum = counted.reduce((cents, one) => cents + one.amount, 0);
    const ids = new Set(own.map((one) => one.id));
    const moved = ledger.filter(({ nonce, succeeded }) => succeeded && ids.has(refundOf.get(nonce) ?? ''));
    const units = moved.reduce((all, one) => all + BigInt(one.amount), 0n);
    const isOver = sum > amount || units > BigInt(amount) * 10_000n;
    return isOver ? [`of ${id}, ${amount} cents, ${sum} are refunded, and ${units} units moved`] : [];
  });
}

/** The order of two events is not checked: two processes may have written them. */
function checkRefundEvents({ id, status }: PublicRefund, { received, forgotten }: Evidence): string[] {
  const own = received.filter(({ sessionId, verified }) => sessionId === id && verified);
  const events = [...new Map(own.map((event) => [event.eventId, event])).values()];
  const count = (type: string, wanted: string): number =>
    events.filter((event) => event.type === type && event.status === wanted).length;
  const isDelivered = ({ eventId }: Received): boolean =>
    own.some((r) => r.eventId === eventId && r.endpoint === STEADY_ENDPOINT && r.reaction === 200);
  const violations: string[] = [];
  if (forgotten.has(id)) {
    const isTold =
      status !== 'succeeded' || events.some((event) => event.status === status && isDelivered(event));
    return isTold ? [] : [`${id} is ${status}, and no event was delivered`];
  }
  if (count('refund.created', 'requires_action') !== 1)
    violations.push(`${id} does not have one created event`);
  for (const end of ['succeeded', 'canceled']) {
    const times = count('refund.updated', end);
    if (times > 1) violations.push(`${id} has ${times} events of status ${end}`);
    if (status === end && !events.some((event) => event.status === end && isDelivered(event)))
      violations.push(`${id} is ${end}, and no event was delivered`);
  }
  if (status !== 'succeeded' && count('refund.updated', 'succeeded') > 0)
    violations.push(`${id} has a succeeded event and is ${status}`);
  return violations;
}
