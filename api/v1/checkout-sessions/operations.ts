import { createCheckoutSession } from '../../../shared/checkout-sessions/create.js';
import { expireCheckoutSession } from '../../../shared/checkout-sessions/expire.js';
import type { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { presentCheckoutSession, renderCheckoutSession } from '../../../shared/checkout-sessions/present.js';
import { presentLineItems, renderLineItems } from '../../../shared/checkout-sessions/present-line-items.js';
import { listCheckoutSessions, readCheckoutSessions } from '../../../shared/checkout-sessions/read.js';
import type { PageRequest } from '../../../shared/db/listing.js';
import { pageOf } from '../../../shared/db/page.js';
import { sessionPrefix } from '../../../shared/values/ids.js';
import type { Deps } from '../../deps/deps.js';
import { createdRange } from '../../input/created-filter.js';
import { inputParser } from '../../input/input-parser.js';
import { pageRequest, wholePageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import { fanOutCharger } from '../operation/charge-fan-out.js';
import { idempotentOperation, objectId, operation } from '../operation/operation.js';
import { answerSession, type SessionAnswer } from './answer-session.js';
import { requireImageHosts } from './image-hosts.js';
import { newCheckoutSession } from './input.js';
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

export function checkoutSessionOperations(deps: Deps) {
  const { connections, accountReads, config, notifyDeliveries, heavyAnswers } = deps;
  const { baseUrl } = config;
  const charge = fanOutCharger(deps);
  const answerOf = (expand: readonly string[] = []): SessionAnswer => sessionAnswer(baseUrl, expand);
  const toJson = (expand: readonly string[] | undefined): ((session: CheckoutSession) => string) => {
    const { present } = answerOf(expand);
    return (session) => JSON.stringify(present(session));
  };

  return {
    createCheckoutSession: idempotentOperation(
      deps,
      parseCreate,
      async ({ principal }, input, idempotent) => {
        await requireImageHosts(input);
        return await createCheckoutSession(
          connections.of(principal.accountId),
          principal,
          newCheckoutSession(input),
          {
            render: toJson(input.expand),
            idempotent,
          },
        );
      },
    ),
    listCheckoutSessions: operation(parseList, async (call, query) => {
      const { principal } = call;
      const { expand = [], status, created } = query;
      const filter = {
        status,
        clientReferenceId: query.client_reference_id,
        customerEmail: query.customer_email,
        ...createdRange(created, sessionPrefix(principal.livemode)),
      };
      const options = { lineItems: expand.length > 0 };
      const page = await accountReads(principal, (from) =>
        listCheckoutSessions(from, principal, pageRequest(query), filter, options),
      );
      return answerList(heavyAnswers, call, page, {
        url: '/v1/checkout/sessions',
        ...answerOf(expand),
        read: (ids) => accountReads(principal, (from) => readCheckoutSessions(from, principal, ids, options)),
      });
    }),
    retrieveCheckoutSession: operation(parseRetrieve, async (call, { expand = [] }) =>
      answerSession(deps, call, { lineItems: expand.length > 0 }, answerOf(expand)),
    ),
    expireCheckoutSession: idempotentOperation(deps, parseExpire, async (call, { expand }, idempotent) => {
      const id = objectId(call, 'checkout session');
      await charge(call, { kind: 'expire', id }, idempotent);
      const rendering = { render: toJson(expand), idempotent };
      const db = connections.of(call.principal.accountId);
      return await expireCheckoutSession(db, call.principal, id, { baseUrl, notifyDeliveries }, rendering);
    }),
    listLineItems: operation(parseListLineItems, async (call, query) =>
      answerSession(deps, call, { lineItems: true }, lineItemsAnswer(wholePageRequest(query))),
    ),
  };
}

function sessionAnswer(baseUrl: string, expand: readonly string[]): SessionAnswer {
  const view = { baseUrl, expand: expand.length > 0 ? (['line_items'] as const) : [] };
  return {
    present: (session) => presentCheckoutSession(session, view),
    render: (session) => renderCheckoutSession(session, view),
  };
}

function lineItemsAnswer(page: PageRequest): SessionAnswer {
  const itemsOf = ({ lineItems = [] }: CheckoutSession) => pageOf(lineItems, 'line item', page);
  return {
    present(session) {
      const { data, hasMore } = itemsOf(session);
      return presentLineItems(session.id, data, hasMore);
    },
    render(session) {
      const { data, hasMore } = itemsOf(session);
      return renderLineItems(session.id, data, hasMore);
    },
  };
}
