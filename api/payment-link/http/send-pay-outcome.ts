import type { Request, Response } from 'express';
import { nowMs } from '../../../shared/process/clock.js';
import { findLinkState } from '../../../shared/settlement/read-link.js';
import type { UncertainPayment } from '../../../shared/x402/failure-codes.js';
import type { PayOutcome } from '../../checkout-page/page-data.js';
import { causeOfCode } from '../../checkout-page/words/cause-of-code.js';
import type { Deps } from '../../deps/deps.js';
import { sendJson } from '../../http/send-json.js';
import { type LinkAnswer, uncertainPayment } from '../link-answer.js';
import { loadPay } from '../load-pay.js';
import { sentPayment } from './serve-link.js';
import { withinShare } from './within-share.js';

/**
 * `POST /c/{id}/pay`: pays like the link itself, for the page's script. It always answers 200, since browsers log a
 * 402 as an error of the page.
 */
export async function sendPayOutcome(deps: Deps, req: Request<{ id: string }>, res: Response): Promise<void> {
  const arrivedAtMs = nowMs();
  const { id } = req.params;
  const session = await findLinkState(deps.db, id);
  const header = sentPayment(req);
  let outcome: PayOutcome;
  if (session === undefined) outcome = { outcome: 'failed', code: 'resource_missing' };
  else if (header === undefined || header.kind === 'malformed') {
    outcome = { outcome: 'failed', code: 'invalid_payment_payload' };
  } else {
    const { failureCodeOfUse, pay, isSessionsPayment, uncertainUse } = await loadPay();
    const own = withinShare(deps, session);
    const answer = await pay(own, session, { header, channel: 'page', arrivedAtMs, requestId: req.id });
    outcome = outcomeOf(answer, await isSessionsPayment(own, id, header));
    if (outcome.outcome === 'others') {
      const use = await uncertainUse(own, id, header);
      if (use !== undefined) outcome = { ...outcome, ...uncertainFields(uncertainPayment(use)) };
    } else if (outcome.code === 'signature_already_used' && !outcome.uncertain) {
      // The answer to the first request may have been lost.
      outcome = { ...outcome, code: (await failureCodeOfUse(own, id, header)) ?? outcome.code };
    }
  }
  const { code } = outcome;
  res.locals.errorCode = code;
  sendJson(res, JSON.stringify(code === undefined ? outcome : { ...outcome, cause: causeOfCode(code) }));
}

function outcomeOf(answer: LinkAnswer, isOurs: boolean): PayOutcome {
  switch (answer.kind) {
    case 'paid':
      return { outcome: 'taken' };
    case 'processing':
      return { outcome: isOurs || answer.status === 202 ? 'taken' : 'others' };
    case 'payment_required':
      return {
        outcome: 'failed',
        code: answer.required.code ?? 'payment_failed',
        ...uncertainFields(answer.uncertain),
      };
    case 'error':
      return {
        ...outcomeOfError(answer.error.code, isOurs, answer.retryAfterSeconds),
        ...uncertainFields(answer.uncertain),
      };
  }
}

function outcomeOfError(code: string, isOurs: boolean, retryAfter: number | undefined): PayOutcome {
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

function uncertainFields(uncertain: UncertainPayment | undefined): Pick<PayOutcome, 'uncertain' | 'payment'> {
  if (uncertain === undefined) return {};
  const { paymentId } = uncertain;
  return { uncertain: true, ...(paymentId !== undefined && { payment: paymentId }) };
}
