import type { Evidence } from './evidence.js';

/** The statuses that a buyer may get, and the answers that are wrong once money has moved. */
const LINK_STATUSES = [0, 200, 202, 402, 409, 410, 503];
/**
 * A merchant gets a 503 while Postgres is unreachable, a 500 while another fault lasts, and a 429 while its other requests
 * hang, and retries with the same idempotency key.
 */
const MERCHANT_STATUSES = [0, 200, 429, 500, 503];

export function checkAnswers(evidence: Evidence): string[] {
  const { answers, buyers, ledger, liedAbout, faults, forgotten } = evidence;
  const isForgetful = forgotten.size > 0;
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
    const reply = `${request} of ${sessionId ?? 'the merchant'} was answered ${status} ${code ?? ''} (${requestId})`;
    const isLink = request === 'link' || request === 'pay' || request === 'replay';
    const deleted = request === 'endpoint' && status === 404;
    // One of two refunds of the whole amount must be refused.
    const isOverRefunded = request === 'refund' && code === 'refund_amount_too_large';
    // The promoted standby does not know of the payment, or not that it succeeded.
    const isForgottenPayment = isForgetful && request === 'refund' && code === 'payment_not_succeeded';
    // The promoted standby has no row of a session in `forgotten`.
    const isGone =
      status === 404 && (isLink ? sessionId !== undefined && forgotten.has(sessionId) : isForgetful);
    const isAllowed =
      (isLink ? LINK_STATUSES : MERCHANT_STATUSES).includes(status) ||
      deleted ||
      isOverRefunded ||
      isForgottenPayment ||
      isGone;
    if (!isAllowed) violations.push(reply);
    const mayBeUnused = isForgetful && request === 'replay';
    if (request === 'replay' && !mayBeUnused && (status === 200 || status === 202))
      violations.push(`${reply}: ${nonce} had paid another link`);
    const since = sessionId === undefined ? undefined : paidAt.get(sessionId);
    if (status === 402 && since !== undefined && since <= at && !forgotten.has(sessionId ?? '')) {
      violations.push(`${reply}, ${at - since} ms after its money had moved`);
    }
  }
  for (const entry of buyers) {
    const at = entry.kind === 'told_failed' ? movedAt.get(entry.nonce) : undefined;
    if (entry.kind !== 'told_failed' || at === undefined) continue;
    violations.push(
      `${entry.nonce} of ${entry.sessionId} was reported as failed (${entry.code}), and its money moved ${at - entry.at} ms later`,
    );
  }
  for (const { fault, detail } of faults) {
    if (fault === 'bad exit') violations.push(`a process exited badly after SIGTERM: ${detail}`);
    if (fault === 'ended by itself') violations.push(`a process ended by itself: ${detail}`);
  }
  return violations;
}
