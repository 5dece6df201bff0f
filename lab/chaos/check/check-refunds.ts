import type { Received } from '../actors/entries.js';
import { STEADY_ENDPOINT } from '../stage/stage.js';
import type { Books, PublicRefund } from './books.js';

/** Nobody gets back more than was paid, whatever broke; each refund is paid once, and each of its moves is told. */
export function checkRefunds(books: Books): string[] {
  const { refunds, buyers, ledger } = books;
  const violations: string[] = [];
  const known = new Set(buyers.flatMap((entry) => (entry.kind === 'refund' ? [entry.refundId] : [])));
  const refundOf = new Map(
    buyers.flatMap((entry) => (entry.kind === 'signed' ? [[entry.nonce, entry.sessionId] as const] : [])),
  );
  const paidBy = new Map<string, string[]>();
  for (const { nonce, transaction, succeeded } of ledger) {
    const id = refundOf.get(nonce);
    if (succeeded && id !== undefined) paidBy.set(id, [...(paidBy.get(id) ?? []), transaction]);
  }
  for (const refund of refunds.values()) {
    const { id, status, transaction } = refund;
    const moved = paidBy.get(id) ?? [];
    if (!known.has(id)) violations.push(`${id} exists, and its merchant was never told of it`);
    if (status === 'pending') violations.push(`${id} is left pending`);
    if (status === 'succeeded' && (transaction === null || !moved.includes(transaction)))
      violations.push(
        `${id} succeeded by ${transaction}, and the ledger has ${moved.join(', ') || 'nothing'}`,
      );
    if (status !== 'succeeded' && moved.length > 0)
      violations.push(`${id} is ${status}, and ${moved.join(', ')} paid it`);
    violations.push(...checkTold(refund, books));
  }
  for (const id of known) if (!refunds.has(id)) violations.push(`${id} was made and is gone`);
  return [...violations, ...checkSums(books, refundOf)];
}

/** Money that came late, for a refund that was canceled by then or after another payment of it, is over what was paid. */
function checkSums(
  { refunds, payments, received, ledger, liedAbout }: Books,
  refundOf: ReadonlyMap<string, string>,
): string[] {
  const canceled = new Set(received.flatMap((r) => (r.status === 'canceled' ? [r.sessionId] : [])));
  const lied = new Set([...liedAbout].map((nonce) => refundOf.get(nonce)));
  return payments.flatMap(({ id, amount }) => {
    const own = [...refunds.values()].filter(({ payment }) => payment === id);
    if (own.some((one) => canceled.has(one.id) || lied.has(one.id))) return [];
    const counted = own.filter(({ status }) => status !== 'canceled');
    const sum = counted.reduce((cents, one) => cents + one.amount, 0);
    const ids = new Set(own.map((one) => one.id));
    const moved = ledger.filter(({ nonce, succeeded }) => succeeded && ids.has(refundOf.get(nonce) ?? ''));
    const units = moved.reduce((all, one) => all + BigInt(one.amount), 0n);
    const isOver = sum > amount || units > BigInt(amount) * 10_000n;
    return isOver ? [`of ${id}, ${amount} cents, ${sum} are given back, and ${units} units moved`] : [];
  });
}

/** Which of two events came first is not asked: two processes have made them. */
function checkTold({ id, status }: PublicRefund, { received }: Books): string[] {
  const own = received.filter(({ sessionId, verified }) => sessionId === id && verified);
  const events = [...new Map(own.map((event) => [event.eventId, event])).values()];
  const count = (type: string, told: string): number =>
    events.filter((event) => event.type === type && event.status === told).length;
  const isDelivered = ({ eventId }: Received): boolean =>
    own.some((r) => r.eventId === eventId && r.endpoint === STEADY_ENDPOINT && r.reaction === 200);
  const violations: string[] = [];
  if (count('refund.created', 'requires_action') !== 1)
    violations.push(`${id} was made, and told so otherwise`);
  for (const end of ['succeeded', 'canceled']) {
    const times = count('refund.updated', end);
    if (times > 1) violations.push(`${id} was told to be ${end} ${times} times`);
    if (status === end && !events.some((event) => event.status === end && isDelivered(event)))
      violations.push(`${id} is ${end}, and nobody was told`);
  }
  if (status !== 'succeeded' && count('refund.updated', 'succeeded') > 0)
    violations.push(`${id} was told to have succeeded and is ${status}`);
  return violations;
}
