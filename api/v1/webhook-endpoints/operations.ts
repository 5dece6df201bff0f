import type { Knex } from '../../../shared/db/knex.js';
import { Refusal } from '../../../shared/errors/refusal.js';
import { listDeliveries, readDeliveries } from '../../../shared/webhooks/deliveries.js';
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  type EndpointWithSecret,
  getWebhookEndpoint,
  listWebhookEndpoints,
  readWebhookEndpoints,
  updateWebhookEndpoint,
} from '../../../shared/webhooks/endpoints.js';
import type { SubscribableEvent } from '../../../shared/webhooks/event-types.js';
import {
  presentDeletedWebhookEndpoint,
  presentNewWebhookEndpoint,
  presentWebhookDelivery,
  presentWebhookEndpoint,
} from '../../../shared/webhooks/present.js';
import { rollWebhookSecret } from '../../../shared/webhooks/secrets.js';
import type { Deps } from '../../deps/deps.js';
import { inputParser, parseNothing } from '../../input/input-parser.js';
import { pageRequest, wholePageRequest } from '../../input/list-query.js';
import { answerList } from '../operation/answer-list.js';
import {
  type Call,
  idempotentOperation,
  objectId,
  operation,
  writingOperation,
} from '../operation/operation.js';
import {
  CreateWebhookEndpoint,
  ListDeliveries,
  ListWebhookEndpoints,
  LONGEST_OVERLAP_SECONDS,
  RollWebhookSecret,
  UpdateWebhookEndpoint,
} from './schema.js';
import { requireAllowedUrl } from './webhook-url.js';

const parseCreate = inputParser(CreateWebhookEndpoint);
const parseUpdate = inputParser(UpdateWebhookEndpoint);
const parseRoll = inputParser(RollWebhookSecret);
const parseList = inputParser(ListWebhookEndpoints);
const parseListDeliveries = inputParser(ListDeliveries);
const OBJECT = 'webhook endpoint';

export function webhookEndpointOperations(deps: Deps) {
  const { connections, accountReads, config, secretBox, notifyDeliveries, heavyAnswers } = deps;
  const dbOf = ({ principal }: Call): Knex => connections.of(principal.accountId);
  const allowedUrl = (url: string, { principal }: Call): Promise<string> =>
    requireAllowedUrl(url, {
      accountId: principal.accountId,
      livemode: principal.livemode,
      allowPrivateNetworks: config.allowPrivateWebhooks,
    });

  return {
    createWebhookEndpoint: idempotentOperation(deps, parseCreate, async (call, input, idempotent) => {
      const values = {
        url: await allowedUrl(input.url, call),
        enabledEvents: subscribed(input.enabled_events),
        description: input.description ?? null,
      };
      return await createWebhookEndpoint(dbOf(call), call.principal, values, secretBox, {
        render: renderNew,
        idempotent,
      });
    }),
    listWebhookEndpoints: operation(parseList, async (call, query) => {
      const { principal } = call;
      const page = await accountReads(principal, (from) =>
        listWebhookEndpoints(from, principal, wholePageRequest(query)),
      );
      return answerList(heavyAnswers, call, page, {
        url: '/v1/webhook_endpoints',
        present: presentWebhookEndpoint,
        read: (ids) => accountReads(principal, (from) => readWebhookEndpoints(from, principal, ids)),
      });
    }),
    retrieveWebhookEndpoint: operation(parseNothing, async (call) => {
      const { principal } = call;
      const id = objectId(call, OBJECT);
      return presentWebhookEndpoint(
        await accountReads(principal, (from) => getWebhookEndpoint(from, principal, id)),
      );
    }),
    updateWebhookEndpoint: idempotentOperation(deps, parseUpdate, async (call, input, idempotent) => {
      const id = objectId(call, OBJECT);
      const { enabled_events, description, disabled } = input;
      const url = requireNotEmpty(input.url);
      const changes = {
        ...(url !== undefined && { url: await allowedUrl(url, call) }),
        ...(enabled_events !== undefined && { enabledEvents: subscribed(enabled_events) }),
        ...(description !== undefined && { description }),
        ...(disabled !== undefined && { disabled }),
      };
      return await updateWebhookEndpoint(dbOf(call), call.principal, id, changes, notifyDeliveries, {
        render: (endpoint) => JSON.stringify(presentWebhookEndpoint(endpoint)),
        idempotent,
      });
    }),
    rollWebhookSecret: idempotentOperation(deps, parseRoll, async (call, input, idempotent) => {
      const { expires_in: bothSignForSeconds = LONGEST_OVERLAP_SECONDS } = input;
      const roll = { id: objectId(call, OBJECT), bothSignForSeconds };
      return await rollWebhookSecret(dbOf(call), call.principal, roll, secretBox, {
        render: renderNew,
        idempotent,
      });
    }),
    deleteWebhookEndpoint: writingOperation(deps, parseNothing, async (call) => {
      const id = objectId(call, OBJECT);
      await deleteWebhookEndpoint(dbOf(call), call.principal, id);
      return presentDeletedWebhookEndpoint(id);
    }),
  };
}

export function deliveryOperations({ accountReads, heavyAnswers }: Deps) {
  return {
    listWebhookDeliveries: operation(parseListDeliveries, async (call, query) => {
      const { principal } = call;
      const id = objectId(call, OBJECT);
      const page = await accountReads(principal, (from) =>
        listDeliveries(from, principal, id, pageRequest(query), query.status),
      );
      return answerList(heavyAnswers, call, page, {
        url: `/v1/webhook_endpoints/${id}/deliveries`,
        present: presentWebhookDelivery,
        read: (ids) => accountReads(principal, (from) => readDeliveries(from, principal, id, ids)),
      });
    }),
  };
}

function renderNew({ endpoint, secret }: EndpointWithSecret): string {
  return JSON.stringify(presentNewWebhookEndpoint(endpoint, secret));
}

function requireNotEmpty(url: string | null | undefined): string | undefined {
  if (url !== null) return url;
  const message = 'url is empty. An endpoint needs one: send it, or leave it out.';
  throw new Refusal('parameter_invalid_empty', message, { param: 'url' });
}

function subscribed(events: readonly SubscribableEvent[] | null | undefined): SubscribableEvent[] {
  return events == null || events.length === 0 ? ['*'] : [...new Set(events)];
}
