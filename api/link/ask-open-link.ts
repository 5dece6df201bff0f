import type { Request, Response } from 'express';
import { findLinkState } from '../../shared/settlement/read-link.js';
import { isIdShaped } from '../../shared/values/ids.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import type { Deps } from '../deps/deps.js';
import { NO_SESSION, sendBuyerError } from '../errors/buyer-errors.js';
import { look } from '../payment-link/look.js';
import { sendAgentAnswer } from './respond.js';

/** What can be paid with. Undefined when nothing can: then the request is answered as the link itself would answer. */
export async function askOpenLink(
  deps: Deps,
  { params: { id } }: Request<{ id: string }>,
  res: Response,
): Promise<readonly PaymentRequirements[] | undefined> {
  const session = isIdShaped(id) ? await findLinkState(deps.db, id) : undefined;
  if (session === undefined) {
    sendBuyerError(res, 'resource_missing', NO_SESSION);
    return undefined;
  }
  const answer = await look(deps, session);
  if (answer.kind === 'payment_required') return answer.required.accepts;
  await sendAgentAnswer(deps, res, answer, { link: `${deps.config.baseUrl}/c/${id}`, hasPaid: false });
  return undefined;
}
