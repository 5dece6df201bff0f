import type { Evidence, PublicPayment } from './evidence.js';

/**
 * Each movement of money matches one payment, and each payment one movement. Movements for refunds are checked
 * elsewhere.
 */
export function checkMoney(evidence: Evidence): string[] {
  const { sessions, refunds, payments, undecided, buyers, ledger, forgotten } = evidence;
  const isListed = (sessionId: string, transaction: string): boolean =>
    forgotten.has(sessionId) && evidence.listed.has(transaction);
  const violations: string[] = [];
  const known = new Set(buyers.flatMap((entry) => (entry.kind === 'session' ? [entry.sessionId] : [])));
  const sessionOf = new Map(
    buyers.flatMap((entry) => (entry.kind === 'signed' ? [[entry.nonce, entry.sessionId] as const] : [])),
  );
  const moved = ledger.filter(({ succeeded }) => succeeded);
  const byTransaction = new Map<string, PublicPayment[]>();
  for (const payment of payments) {
    const { transaction } = payment;
    if (transaction === null) violations.push(`${payment.id} succeeded without a transaction`);
    else byTransaction.set(transaction, [...(byTransaction.get(transaction) ?? []), payment]);
  }

  const paidFor = new Map<string, string[]>();
  for (const { nonce, transaction } of moved) {
    const sessionId = sessionOf.get(nonce);
    if (sessionId === undefined) {
      violations.push(`money moved for ${nonce}, which no buyer signed`);
      continue;
    }
    // A refund that the promoted standby does not have is among `forgotten`, or missed by the check of refunds.
    if (refunds.has(sessionId) || sessionId.startsWith('re_')) continue;
    paidFor.set(sessionId, [...(paidFor.get(sessionId) ?? []), transaction]);
    const recorded = (byTransaction.get(transaction) ?? []).filter((p) => p.checkout_session === sessionId);
    if (recorded.length !== 1 && !(recorded.length === 0 && isListed(sessionId, transaction))) {
      const { status } = sessions.get(sessionId) ?? { status: 'unknown' };
      violations.push(
        `${transaction} paid ${sessionId} (${status}), which ${recorded.length} payments record`,
      );
    }
  }
  const twice = moved.length - new Set(moved.map(({ nonce }) => nonce)).size;
  if (twice > 0) violations.push(`${twice} authorizations moved money twice`);

  for (const session of sessions.values()) {
    if (!known.has(session.id)) violations.push(`${session.id} exists, and its creation was never answered`);
    if (session.status === 'processing') violations.push(`${session.id} is left processing`);
    const transactions = paidFor.get(session.id) ?? [];
    const own = session.payment?.transaction ?? null;
    if (session.status === 'complete' && (own === null || !transactions.includes(own))) {
      violations.push(
        `${session.id} is complete by ${own}, and the ledger has ${transactions.join(', ') || 'nothing'}`,
      );
    }
    const unlisted = transactions.filter((transaction) => !isListed(session.id, transaction));
    if (session.status !== 'complete' && unlisted.length > 0) {
      violations.push(`${session.id} is ${session.status}, and ${unlisted.join(', ')} paid it`);
    }
  }
  for (const id of known)
    if (!sessions.has(id) && !forgotten.has(id))
      violations.push(`${id} was created and does not exist any more`);
  const transactions = new Set(moved.map(({ transaction }) => transaction));
  for (const { id, transaction } of payments) {
    if (transaction !== null && !transactions.has(transaction))
      violations.push(`${id} records ${transaction}, which moved nothing`);
  }
  if (undecided > 0) violations.push(`${undecided} payments are left undecided`);
  return violations;
}
