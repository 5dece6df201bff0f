import express, { type Request, type Response, Router } from 'express';
import { isIdShaped } from '../../../shared/values/ids.js';
import type { Deps } from '../../deps/deps.js';
import { renderBuyerErrors } from '../../errors/buyer-errors.js';
import { limitByAddress } from '../../middleware/rate-limit.js';
import { sendBalances } from './balances.js';
import { sendImage } from './images.js';
import { LINK_METHODS, linkHeaders, linkRelations } from './link-headers.js';
import { sendCurrentPage } from './page.js';
import { allowOnly, notFound, refuseBroken, refuser } from './refuse.js';
import { sendPayOutcome } from './send-pay-outcome.js';
import { serveLink } from './serve-link.js';
import { sendStatus } from './status.js';
import { sendTransaction } from './transaction.js';
import { unencoded } from './unencoded.js';
import { logUnknownLinks } from './unknown-links.js';

const READ_METHODS = 'GET, HEAD, OPTIONS';
const POST_METHODS = 'POST, OPTIONS';
/** The body names a wallet and a mint; `shared/limits/bounds.ts` has the limit of the merchant API's bodies. */
const MAX_TRANSACTION_REQUEST_BYTES = 4096;
const TOO_MANY = 'Too many requests from this address. Wait as long as Retry-After says, and try again.';

/** `/c/{id}`: one URL that people open and agents pay. The paths below it are for the page. */
export function paymentLink(deps: Deps): Router {
  const router = Router({ caseSensitive: true });
  const refuse = refuser(deps);
  const relations = linkRelations(deps.config.baseUrl);
  const tooMany = (req: Request, res: Response): void => refuse(req, res, 'rate_limit', TOO_MANY);
  const limit = limitByAddress(deps.addressLimiters.link, tooMany);
  const limitTransactions = limitByAddress(deps.addressLimiters.transaction, tooMany);
  const limitBalances = limitByAddress(deps.addressLimiters.balances, tooMany);
  const noteUnknown = logUnknownLinks(deps);
  const serve = serveLink(deps, relations, refuse, tooMany);
  router.use(linkHeaders(relations));
  // The request log names the session.
  router.param('id', (_req, res, next, id: string) => {
    if (isIdShaped(id)) res.locals.session = id;
    next();
  });

  router.route('/:id').all(noteUnknown).get(serve).post(serve).all(limit, allowOnly(LINK_METHODS, refuse));
  // The status is not rate limited: an open page polls it every other second.
  router
    .route('/:id/status')
    .all(noteUnknown)
    .get((req, res) => sendStatus(deps, res, req.params.id))
    .all(allowOnly(READ_METHODS, refuse));
  router.use('/:id', limit);
  router
    .route('/:id/page')
    .all(noteUnknown)
    .get((req, res) => sendCurrentPage(deps, res, req.params.id))
    .all(allowOnly(READ_METHODS, refuse));
  router
    .route('/:id/pay')
    .all(noteUnknown)
    .post((req, res) => sendPayOutcome(deps, req, res))
    .all(allowOnly(POST_METHODS, refuse));
  router
    .route('/:id/transaction')
    .post(
      limitTransactions,
      unencoded(refuse),
      express.json({ limit: MAX_TRANSACTION_REQUEST_BYTES }),
      (req, res) => sendTransaction(deps, req, res),
    )
    .all(allowOnly(POST_METHODS, refuse));
  router
    .route('/:id/balances')
    .get(limitBalances, (req, res) => sendBalances(deps, req, res))
    .all(allowOnly(READ_METHODS, refuse));
  router
    .route('/:id/images/:name')
    .get((req, res) => sendImage(deps, res, req.params.id, req.params.name))
    .all(allowOnly(READ_METHODS, refuse));
  router.use(notFound(refuse));
  router.use(refuseBroken(refuse), renderBuyerErrors(refuse));
  return router;
}
