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
import { inputParser } from '../../input/input-parser.js';
import { pageRequest, wholePageRequest } from '../../input/list-query.js';
import { type Operation, objectId, operation, repeatableOperation } from '../operation/operation.js';
import { requireImageHosts } from './image-hosts.js';
import { createdRange, newCheckoutSession } from './input.js';
import {
  CreateCheckoutSession,
  ExpireCheckoutSession,
  ListCheckoutSessions,
  ListLineItems,
  RetrieveCheckoutSession,
} from './schema.js';

export type CheckoutSessionOperations = Record<
  | 'createCheckoutSession'
  | 'listCheckoutSessions'
  | 'retrieveCheckoutSession'
  | 'expireCheckoutSession'
  | 'listLineItems',
  Operation
>;

const parseCreate = inputParser(CreateCheckoutSession);
const parseList = inputParser(ListCheckoutSessions);
const parseRetrieve = inputParser(RetrieveCheckoutSession);
const parseExpire = inputParser(ExpireCheckoutSession);
const parseListLineItems = inputParser(ListLineItems);
const OBJECT = 'checkout session';

export function checkoutSessionOperations(deps: Deps): CheckoutSessionOperations {
  const { db, config, ringDeliveries } = deps;
  const { baseUrl } = config;
  const present = (expand: readonly string[] = []): ((session: CheckoutSession) => object) => {
    const view = { baseUrl, expand: expand.length > 0 ? (['line_items'] as const) : [] };
    return (session) => presentCheckoutSession(session, view);
  };
  const render = (expand: readonly string[] | undefined): ((session: CheckoutSession) => string) => {
    const presented = present(expand);
    return (session) => JSON.stringify(presented(session));
  };

  return {
    createCheckoutSession: repeatableOperation(
      deps,
      parseCreate,
      async ({ principal }, input, idempotent) => {
        await requireImageHosts(input);
        return await createCheckoutSession(db, principal, newCheckoutSession(input), {
          render: render(input.expand),
          idempotent,
        });
      },
    ),
    listCheckoutSessions: operation(parseList, async ({ principal }, query) => {
      const { expand = [], status, created } = query;
      const filter = { status, ...createdRange(created, principal.livemode) };
      const options = { lineItems: expand.length > 0 };
      const page = await listCheckoutSessions(db, principal, pageRequest(query), filter, options);
      return presentList('/v1/checkout/sessions', page.data.map(present(expand)), page.hasMore);
    }),
    retrieveCheckoutSession: operation(parseRetrieve, async (call, { expand = [] }) => {
      const options = { lineItems: expand.length > 0 };
      return present(expand)(await getCheckoutSession(db, call.principal, objectId(call, OBJECT), options));
    }),
    expireCheckoutSession: repeatableOperation(deps, parseExpire, async (call, { expand }, idempotent) =>
      expireCheckoutSession(
        db,
        call.principal,
        objectId(call, OBJECT),
        { baseUrl, ringDeliveries },
        { render: render(expand), idempotent },
      ),
    ),
    listLineItems: operation(parseListLineItems, async (call, query) => {
      const id = objectId(call, OBJECT);
      const session = await getCheckoutSession(db, call.principal, id, { lineItems: true });
      const { data, hasMore } = pageOf(session.lineItems ?? [], 'line item', wholePageRequest(query));
      return presentLineItems(session.id, data, hasMore);
    }),
  };
}
