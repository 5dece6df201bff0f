import type { Books } from './books.js';

/** What a buyer may be answered, and what never while money has moved. */
const LINK_STATUSES = [0, 200, 202, 402, 409, 410, 503];
/** An unreachable store is a 500 for merchants, who repeat with the same idempotency key. */
const MERCHANT_STATUSES = [0, 200, 500];

export function checkAnswers({ answers, buyers, ledger, liedAbout, faults }: Books): string[] {
  const violations: string[] = [];
  const moved = ledger.filter(({ succeeded, nonce }) => succeeded && !liedAbout.has(nonce));
  const movedAt = new Map(moved.map(({ nonce, at }) => [nonce, at]));
  const paidAt = new Map<string, number>();
  for (const entry of buyers) {
    const at = entry.kind === 'signed' ? movedAt.get(entry.nonce) : undefined;
    if (entry.kind !== 'signed' || at === undefined) continue;
    paidAt.set(entry.sessionId, Math.min(at, paidAt.get(entry.sessionId) ?? at));
  }
  for (const { request, status, code, sessionId, nonce, at, requestId } of answers) {
    const told = `${request} of ${sessionId ?? 'the merchant'} was answered ${status} ${code ?? ''} (${requestId})`;
    const isLink = request === 'link' || request === 'pay' || request === 'replay';
    const deleted = request === 'endpoint' && status === 404;
    // Of two who want all of it back one comes late.
    const tooMuch = request === 'refund' && code === 'refund_amount_too_large';
    const isLawful = (isLink ? LINK_STATUSES : MERCHANT_STATUSES).includes(status) || deleted || tooMuch;
    if (!isLawful) violations.push(told);
    if (request === 'replay' && (status === 200 || status === 202))
      violations.push(`${told}: ${nonce} paid another`);
    const since = sessionId === undefined ? undefined : paidAt.get(sessionId);
    if (status === 402 && since !== undefined && since <= at) {
      violations.push(`${told}, ${at - since} ms after money had moved for it`);
    }
  }
  for (const entry of buyers) {
    const at = entry.kind === 'told_failed' ? movedAt.get(entry.nonce) : undefined;
    if (entry.kind !== 'told_failed' || at === undefined) continue;
    violations.push(
      `${entry.nonce} of ${entry.sessionId} was said to have failed (${entry.code}), and paid ${at - entry.at} ms later`,
    );
  }
  for (const { fault, detail } of faults) {
    if (fault === 'stopped badly') violations.push(`a process that was told to stop ended badly: ${detail}`);
    if (fault === 'ended by itself') violations.push(`a process that nobody killed ended: ${detail}`);
  }
  return violations;
}
