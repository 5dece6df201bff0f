import type { Request, Response } from 'express';
import { paymentLinkUrl } from '../../../shared/payables/payment-link-url.js';
import { findLinkState } from '../../../shared/settlement/read-link.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import type { Deps } from '../../deps/deps.js';
import { NO_SESSION, sendBuyerError } from '../../errors/buyer-errors.js';
import { viewLink } from '../view-link.js';
import { sendAgentAnswer } from './respond.js';
import { withinShare } from './within-share.js';

/**
 * The entries that the link can be paid with. Otherwise sends the response of the link itself and returns
 * undefined.
 */
export async function requireAccepts(
  deps: Deps,
  { params: { id } }: Request<{ id: string }>,
  res: Response,
): Promise<readonly PaymentRequirements[] | undefined> {
  const session = await findLinkState(deps.db, id);
  if (session === undefined) {
    sendBuyerError(res, 'resource_missing', NO_SESSION);
    return undefined;
  }
  const answer = await viewLink(withinShare(deps, session), session);
  if (answer.kind === 'payment_required') return answer.required.accepts;
  await sendAgentAnswer(deps, res, answer, {
    link: paymentLinkUrl(id, deps.config.baseUrl),
    carriedPayment: false,
  });
  return undefined;
}
