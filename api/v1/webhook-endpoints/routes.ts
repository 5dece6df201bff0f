import { Router } from 'express';
import { Refusal } from '../../../shared/domain/errors.js';
import type { SubscribableEvent } from '../../../shared/domain/webhook-event.js';
import { presentList } from '../../../shared/presenters/list.js';
import {
  presentDeletedWebhookEndpoint,
  presentNewWebhookEndpoint,
  presentWebhookEndpoint,
} from '../../../shared/presenters/webhook-endpoint.js';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
} from '../../../shared/services/webhooks/endpoints.js';
import type { Deps } from '../../deps.js';
import { methodNotAllowed } from '../../errors/no-such-route.js';
import { inputParser } from '../../input/input-parser.js';
import { wholePageRequest } from '../../input/list-query.js';
import { post } from '../../middleware/idempotent.js';
import { queryOf, readBody, requireNoQuery } from '../../middleware/parse-body.js';
import { pathId } from '../../middleware/path-id.js';
import { principalOf } from '../../request-context.js';
import { sendJson } from '../../send-json.js';
import { CreateWebhookEndpoint, ListWebhookEndpoints, UpdateWebhookEndpoint } from './schema.js';
import { requireAllowedUrl } from './webhook-url.js';

const parseCreate = inputParser(CreateWebhookEndpoint);
const parseUpdate = inputParser(UpdateWebhookEndpoint);
const parseList = inputParser(ListWebhookEndpoints);

export function webhookEndpointRoutes(deps: Deps): Router {
  const { db, config, secretBox, ringDeliveries } = deps;
  const urlRules = (livemode: boolean) => ({ livemode, allowPrivateNetworks: config.allowPrivateWebhooks });
  const router = Router({ caseSensitive: true });

  router
    .route('/')
    .post(
      readBody,
      post(deps, {
        parse: parseCreate,
        scope: principalOf,
        act: async (req, input, idempotent) => {
          const principal = principalOf(req);
          const values = {
            url: await requireAllowedUrl(input.url, urlRules(principal.livemode)),
            enabledEvents: subscribed(input.enabled_events),
            description: input.description ?? null,
          };
          return await createWebhookEndpoint(db, principal, values, secretBox, {
            render: ({ endpoint, secret }) => JSON.stringify(presentNewWebhookEndpoint(endpoint, secret)),
            idempotent,
          });
        },
      }),
    )
    .get(async (req, res) => {
      const query = parseList(queryOf(req));
      const page = await listWebhookEndpoints(db, principalOf(req), wholePageRequest(query));
      const data = page.data.map(presentWebhookEndpoint);
      sendJson(res, JSON.stringify(presentList('/v1/webhook_endpoints', data, page.hasMore)));
    })
    .all(methodNotAllowed('GET, HEAD, POST'));

  router
    .route('/:id')
    .get(async (req, res) => {
      requireNoQuery(req);
      const endpoint = await getWebhookEndpoint(db, principalOf(req), pathId(req, 'webhook endpoint'));
      sendJson(res, JSON.stringify(presentWebhookEndpoint(endpoint)));
    })
    .post(
      readBody,
      post(deps, {
        parse: parseUpdate,
        scope: principalOf,
        act: async (req, { url, enabled_events, description, disabled }, idempotent) => {
          const principal = principalOf(req);
          const id = pathId(req, 'webhook endpoint');
          if (url === null) {
            throw new Refusal(
              'parameter_invalid_empty',
              'url is empty. An endpoint needs one: send it, or leave it out.',
              {
                param: 'url',
              },
            );
          }
          const rules = urlRules(principal.livemode);
          const changes = {
            ...(url !== undefined && { url: await requireAllowedUrl(url, rules) }),
            ...(enabled_events !== undefined && { enabledEvents: subscribed(enabled_events) }),
            ...(description !== undefined && { description }),
            ...(disabled !== undefined && { disabled }),
          };
          return await updateWebhookEndpoint(db, principal, id, changes, ringDeliveries, {
            render: (endpoint) => JSON.stringify(presentWebhookEndpoint(endpoint)),
            idempotent,
          });
        },
      }),
    )
    .delete(async (req, res) => {
      requireNoQuery(req);
      const id = pathId(req, 'webhook endpoint');
      await deleteWebhookEndpoint(db, principalOf(req), id);
      sendJson(res, JSON.stringify(presentDeletedWebhookEndpoint(id)));
    })
    .all(methodNotAllowed('GET, HEAD, POST, DELETE'));

  return router;
}

function subscribed(events: readonly SubscribableEvent[] | null | undefined): SubscribableEvent[] {
  return events == null || events.length === 0 ? ['*'] : [...new Set(events)];
}
