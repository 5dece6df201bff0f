import type { Response } from 'express';
import { presentPublicSession } from '../../../shared/checkout-sessions/present-public.js';
import { now } from '../../../shared/process/clock.js';
import { TimedOut, withTimeout } from '../../../shared/process/timeout.js';
import { findLinkState, type LinkedPayable } from '../../../shared/settlement/read-link.js';
import { unixSeconds } from '../../../shared/wire/timestamp.js';
import type { LinkStatus } from '../../checkout-page/page-data.js';
import { revisionOf } from '../../checkout-page/page-state.js';
import type { Deps } from '../../deps/deps.js';
import { NO_SESSION, sendBuyerError } from '../../errors/buyer-errors.js';
import { sendJson } from '../../http/send-json.js';
import { busy, type LinkAnswer } from '../link-answer.js';
import { viewLink } from '../view-link.js';
import { pageState } from './page.js';
import { withinShare } from './within-share.js';

/** An open page must show an expiry within 3 s, even while the facilitator hangs. */
const LONGEST_WAIT_MS = 700;

/** `/c/{id}/status`: 200 in every state, since browsers log other statuses as errors. Not rate limited. */
export async function sendStatus(deps: Deps, res: Response, id: string): Promise<void> {
  const session = await findLinkState(deps.db, id);
  if (session === undefined) {
    sendBuyerError(res, 'resource_missing', NO_SESSION);
    return;
  }
  const state = pageState(session, await viewInTime(withinShare(deps, session), session));
  const presented = presentPublicSession(session, session.account, now());
  const status: LinkStatus = {
    status: presented.status,
    payment_status: presented.payment_status,
    revision: revisionOf(state),
    now: unixSeconds(now()),
    expires_at: presented.expires_at,
  };
  sendJson(res, JSON.stringify(status));
}

async function viewInTime(deps: Deps, session: LinkedPayable): Promise<LinkAnswer> {
  try {
    return await withTimeout(LONGEST_WAIT_MS, viewLink(deps, session));
  } catch (error) {
    if (error instanceof TimedOut) return busy();
    throw error;
  }
}
