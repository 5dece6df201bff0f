import type { Request, Response } from 'express';
import { nowMs } from '../../shared/clock.js';
import { isIdShaped } from '../../shared/ids.js';
import {
  findLinkedSession,
  findLinkState,
  type LinkedSession,
} from '../../shared/services/payments/read-link.js';
import { readPaymentHeader, type WellFormedHeader } from '../../shared/x402/headers.js';
import type { PayOutcome } from '../checkout-page/page-data.js';
import type { Deps } from '../deps.js';
import type { LinkAnswer } from '../payment-link/answer.js';
import { paying } from '../payment-link/paying.js';
import { followedBy, serveLink } from '../payment-link/serve-link.js';
import { sendJson } from '../send-json.js';

/**
 * `POST /c/{id}/pay`: the same payment as at the link itself, for the page's script. It answers 200 whatever came of
 * it: browsers log a 402 as an error, and a buyer without funds is none of the page's.
 */
export async function sendPayOutcome(deps: Deps, req: Request<{ id: string }>, res: Response): Promise<void> {
  const arrivedAtMs = nowMs();
  const { id } = req.params;
  const session = isIdShaped(id) ? await findLinkedSession(deps.db, id) : undefined;
  const header = readPaymentHeader({
    paymentSignature: req.get('PAYMENT-SIGNATURE'),
    xPayment: req.get('X-PAYMENT'),
  });
  let outcome: PayOutcome;
  if (session === undefined) outcome = { outcome: 'failed', code: 'resource_missing' };
  else if (header === undefined || header.kind === 'malformed') {
    outcome = { outcome: 'failed', code: 'invalid_payment_payload' };
  } else {
    const visit = { header, channel: 'page' as const, arrivedAtMs, requestId: req.id };
    const answer = await serveLink(followedBy(deps, req.id), session, visit);
    outcome = read(answer, await isOurs(deps, session, header));
  }
  res.locals.errorCode = outcome.code;
  sendJson(res, JSON.stringify(outcome));
}

/** Whether it is this very payment that holds the session, or paid it: an earlier try of it had arrived. */
async function isOurs({ db }: Deps, { id }: LinkedSession, header: WellFormedHeader): Promise<boolean> {
  const session = await findLinkState(db, id);
  const { isSamePayment } = await paying();
  return session?.payment != null && isSamePayment(header, session.payment);
}

function read(answer: LinkAnswer, isOurs: boolean): PayOutcome {
  switch (answer.kind) {
    case 'paid':
      return { outcome: 'taken' };
    case 'processing':
      return { outcome: isOurs || answer.status === 202 ? 'taken' : 'others' };
    case 'payment_required':
      return { outcome: 'failed', code: answer.required.code ?? 'payment_failed' };
    case 'error':
      return readError(answer.error.code, isOurs, answer.retryAfterSeconds);
  }
}

function readError(code: string, isOurs: boolean, retryAfter: number | undefined): PayOutcome {
  switch (code) {
    case 'session_already_paid':
      return { outcome: isOurs ? 'taken' : 'others' };
    case 'session_expired':
      return { outcome: 'over' };
    case 'payment_service_unavailable':
      return { outcome: 'again', code, ...(retryAfter !== undefined && { retry_after: retryAfter }) };
    default:
      return { outcome: 'failed', code };
  }
}
