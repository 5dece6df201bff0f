import { now } from '../../shared/process/clock.js';
import type { LinkedPayable } from '../../shared/settlement/read-link.js';
import { uncertainFailure } from './earlier-failure.js';
import { expired, type LinkAnswer, stillProcessing, withUncertain } from './link-answer.js';
import type { LinkDeps } from './link-deps.js';
import { askForPayment, readOffer } from './offer.js';
import { paid } from './receipt.js';

/** The response to a request without a payment. Reading a link never pays. */
export async function viewLink(
  deps: Pick<
    LinkDeps,
    'commits' | 'config' | 'db' | 'facilitators' | 'payoutAccounts' | 'receipts' | 'references'
  >,
  session: LinkedPayable,
): Promise<LinkAnswer> {
  switch (session.status) {
    case 'open': {
      if (session.expiresAt <= now()) return expired(session, await uncertainFailure(deps.db, session));
      const offer = await readOffer(deps, session);
      return 'kind' in offer
        ? withUncertain(offer, await uncertainFailure(deps.db, session))
        : await askForPayment(deps, session, offer);
    }
    case 'processing':
      return stillProcessing();
    case 'complete':
      return paid(deps, session);
    case 'expired':
      return expired(session, await uncertainFailure(deps.db, session));
  }
}
