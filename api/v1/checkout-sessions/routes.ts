import { Router } from 'express';
import { pageOf } from '../../../shared/db/page.js';
import type { CheckoutSession } from '../../../shared/models/checkout-session.js';
import { presentCheckoutSession } from '../../../shared/presenters/checkout-session.js';
import { presentLineItems } from '../../../shared/presenters/line-item.js';
import { presentList } from '../../../shared/presenters/list.js';
import { createCheckoutSession } from '../../../shared/services/checkout-sessions/create.js';
import {
  expireCheckoutSession,
  getCheckoutSession,
  listCheckoutSessions,
} from '../../../shared/services/checkout-sessions/read.js';
import type { Deps } from '../../deps.js';
import { methodNotAllowed } from '../../errors/no-such-route.js';
import { inputParser } from '../../input/input-parser.js';
import { pageRequest, wholePageRequest } from '../../input/list-query.js';
import { post } from '../../middleware/idempotent.js';
import { queryOf, readBody } from '../../middleware/parse-body.js';
import { pathId } from '../../middleware/path-id.js';
import { principalOf } from '../../request-context.js';
import { sendJson } from '../../send-json.js';
import { createdRange, newCheckoutSession } from './input.js';
import {
  CreateCheckoutSession,
  ExpireCheckoutSession,
  ListCheckoutSessions,
  ListLineItems,
  RetrieveCheckoutSession,
} from './schema.js';

const parseCreate = inputParser(CreateCheckoutSession);
const parseList = inputParser(ListCheckoutSessions);
const parseRetrieve = inputParser(RetrieveCheckoutSession);
const parseExpire = inputParser(ExpireCheckoutSession);
const parseListLineItems = inputParser(ListLineItems);

export function checkoutSessionRoutes(deps: Deps): Router {
  const { db, config, ringDeliveries } = deps;
  const { baseUrl } = config;
  const events = { baseUrl, ringDeliveries };
  const render = (expand: readonly string[] = []): ((session: CheckoutSession) => string) => {
    const view = { baseUrl, expand: expand.length > 0 ? (['line_items'] as const) : [] };
    return (session) => JSON.stringify(presentCheckoutSession(session, view));
  };

  const router = Router({ caseSensitive: true });

  router
    .route('/')
    .post(
      readBody,
      post(deps, {
        parse: parseCreate,
        scope: principalOf,
        act: (req, input, idempotent) =>
          createCheckoutSession(db, principalOf(req), newCheckoutSession(input), {
            render: render(input.expand),
            idempotent,
          }),
      }),
    )
    .get(async (req, res) => {
      const query = parseList(queryOf(req));
      const principal = principalOf(req);
      const filter = { status: query.status, ...createdRange(query.created, principal.livemode) };
      const lineItems = (query.expand ?? []).length > 0;
      const page = await listCheckoutSessions(db, principal, pageRequest(query), filter, { lineItems });
      const view = { baseUrl, expand: lineItems ? (['line_items'] as const) : [] };
      const data = page.data.map((session) => presentCheckoutSession(session, view));
      sendJson(res, JSON.stringify(presentList('/v1/checkout/sessions', data, page.hasMore)));
    })
    .all(methodNotAllowed('GET, HEAD, POST'));

  router
    .route('/:id')
    .get(async (req, res) => {
      const { expand = [] } = parseRetrieve(queryOf(req));
      const id = pathId(req, 'checkout session');
      const session = await getCheckoutSession(db, principalOf(req), id, { lineItems: expand.length > 0 });
      sendJson(res, render(expand)(session));
    })
    .all(methodNotAllowed('GET, HEAD'));

  router
    .route('/:id/expire')
    .post(
      readBody,
      post(deps, {
        parse: parseExpire,
        scope: principalOf,
        act: (req, input, idempotent) =>
          expireCheckoutSession(db, principalOf(req), pathId(req, 'checkout session'), events, {
            render: render(input.expand),
            idempotent,
          }),
      }),
    )
    .all(methodNotAllowed('POST'));

  router
    .route('/:id/line_items')
    .get(async (req, res) => {
      const query = parseListLineItems(queryOf(req));
      const id = pathId(req, 'checkout session');
      const session = await getCheckoutSession(db, principalOf(req), id, { lineItems: true });
      const { data, hasMore } = pageOf(session.lineItems ?? [], 'line item', wholePageRequest(query));
      sendJson(res, JSON.stringify(presentLineItems(session.id, data, hasMore)));
    })
    .all(methodNotAllowed('GET, HEAD'));

  return router;
}
