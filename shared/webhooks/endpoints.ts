import { randomBytes } from 'node:crypto';
import type { QueryBuilder } from 'objection';
import { accountList } from '../accounts/account-list.js';
import { type Principal, requireActiveKey, whereKeyActive } from '../accounts/api-keys.js';
import { type AnswerRendering, renderAndStore } from '../accounts/idempotency.js';
import { Account } from '../accounts/model.js';
import type { Knex } from '../db/knex.js';
import { sizedColumns } from '../db/sized-columns.js';
import { noSuch, Refusal, requireFound } from '../errors/refusal.js';
import { MAX_ENDPOINTS_PER_MODE } from '../limits/bounds.js';
import { now, nowMs } from '../process/clock.js';
import type { NotifyDeliveries } from '../queues/delivery-notifier.js';
import type { SecretBox } from '../secrets/secrets.js';
import { newId } from '../values/ids.js';
import type { SubscribableEvent } from './event-types.js';
import { WebhookEndpoint } from './model.js';
import { dropSome, FROM_THE_FIRST } from './pending-deliveries.js';
import type { EndpointStatus } from './states.js';

interface NewWebhookEndpoint {
  url: string;
  enabledEvents: SubscribableEvent[];
  description: string | null;
}

export interface EndpointWithSecret {
  endpoint: WebhookEndpoint;
  secret: string;
}

export async function createWebhookEndpoint(
  db: Knex,
  principal: Principal,
  input: NewWebhookEndpoint,
  box: SecretBox,
  rendering: AnswerRendering<EndpointWithSecret>,
): Promise<string> {
  const secret = newSecret();
  return await db.transaction(async (trx) => {
    await lockAccount(trx, principal);
    if ((await ownEndpoints(trx, principal).resultSize()) >= MAX_ENDPOINTS_PER_MODE) {
      throw new Refusal(
        'webhook_endpoint_limit',
        `An account can have ${MAX_ENDPOINTS_PER_MODE} webhook endpoints per mode. Delete one that you no longer need.`,
      );
    }
    const endpoint = await WebhookEndpoint.query(trx)
      .insert({
        id: newId('we_'),
        accountId: principal.accountId,
        livemode: principal.livemode,
        ...input,
        status: 'enabled',
        sealedSecret: box.seal(secret),
        deletedAt: null,
        enabledAt: null,
        sweptTo: null,
        failingSince: null,
      })
      .returning('*');
    return await renderAndStore(trx, rendering, { endpoint, secret }, box);
  });
}

/** Standard Webhooks decodes the base64 after the prefix as the key; Stripe's scheme uses the whole string. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The lock makes concurrent creations count the endpoints one after the other, so that none exceeds the limit. */
async function lockAccount(trx: Knex.Transaction, principal: Principal): Promise<void> {
  const query = Account.query(trx).findById(principal.accountId).select('id').forNoKeyUpdate();
  if ((await whereKeyActive(query, principal)) === undefined) await requireActiveKey(trx, principal);
}

const shown = sizedColumns(
  WebhookEndpoint,
  'endpoint',
  ['id', 'livemode', 'url', 'enabledEvents', 'status', 'description'],
  ['url', 'description'],
);

/** A cursor may name an endpoint that has been deleted since: only its position counts. */
const ENDPOINTS = accountList<WebhookEndpoint>({
  name: 'webhook_endpoints',
  what: 'webhook endpoint',
  table: 'webhook_endpoints',
  alias: 'endpoint',
  select: (share) => `SELECT ${shown.sql(share)} FROM webhook_endpoints endpoint ${shown.join}`,
  listed: 'endpoint.deleted_at IS NULL',
  read: shown.read,
});

/** `readWebhookEndpoints` also reads endpoints that were deleted after a list named them. */
export const { page: listWebhookEndpoints, byIds: readWebhookEndpoints } = ENDPOINTS;

export async function getWebhookEndpoint(
  db: Knex,
  principal: Principal,
  id: string,
): Promise<WebhookEndpoint> {
  const endpoint = await whereKeyActive(ownEndpoints(db, principal).findById(id), principal);
  if (endpoint === undefined) throw await whyNoEndpoint(db, principal, id);
  return endpoint;
}

interface WebhookEndpointChanges {
  url?: string;
  enabledEvents?: SubscribableEvent[];
  description?: string | null;
  disabled?: boolean;
}

export async function updateWebhookEndpoint(
  db: Knex,
  principal: Principal,
  id: string,
  { disabled, ...changes }: WebhookEndpointChanges,
  notifyDeliveries: NotifyDeliveries,
  rendering: AnswerRendering<WebhookEndpoint>,
): Promise<string> {
  let released = false;
  const text = await db.transaction(async (trx) => {
    const endpoint = await lockOwnEndpoint(trx, principal, id);
    const status = disabled === undefined ? endpoint.status : disabled ? 'disabled' : 'enabled';
    released = status === 'enabled' && endpoint.status === 'disabled';
    const changed = await moveEndpoint(trx, endpoint, status, changes);
    return await renderAndStore(trx, rendering, changed);
  });
  if (released) notifyDeliveries({ eventId: `enabled-${nowMs()}`, accountIds: [principal.accountId] });
  return text;
}

/** Makes the moves of a merchant for an operator, without a key. */
export async function setEndpointStatus(
  db: Knex,
  id: string,
  status: EndpointStatus,
): Promise<WebhookEndpoint> {
  return await db.transaction(async (trx) => {
    const found = await WebhookEndpoint.query(trx).findById(id).whereNull('deletedAt').forNoKeyUpdate();
    // The sweep finds a released delivery within a second.
    return await moveEndpoint(trx, requireFound(found, 'webhook endpoint', id), status);
  });
}

/**
 * Writes an endpoint's status, which holds its deliveries or lets the sweep make them due. The caller has locked the
 * endpoint.
 */
async function moveEndpoint(
  trx: Knex.Transaction,
  endpoint: WebhookEndpoint,
  status: EndpointStatus,
  changes: Partial<Pick<WebhookEndpoint, 'url' | 'description' | 'enabledEvents'>> = {},
): Promise<WebhookEndpoint> {
  const isReleased = status === 'enabled' && endpoint.status === 'disabled';
  const release = isReleased ? { enabledAt: now(), sweptTo: FROM_THE_FIRST } : {};
  return await endpoint.$query(trx).patchAndFetch({ ...changes, ...release, status });
}

export async function lockOwnEndpoint(
  trx: Knex.Transaction,
  principal: Principal,
  id: string,
): Promise<WebhookEndpoint> {
  const own = ownEndpoints(trx, principal).findById(id).forNoKeyUpdate();
  const endpoint = await whereKeyActive(own, principal);
  if (endpoint === undefined) throw await whyNoEndpoint(trx, principal, id);
  return endpoint;
}

export async function deleteWebhookEndpoint(db: Knex, principal: Principal, id: string): Promise<void> {
  await db.transaction(async (trx) => {
    const deleted = { deletedAt: now(), sweptTo: FROM_THE_FIRST };
    const deletion = ownEndpoints(trx, principal).findById(id).patch(deleted);
    if ((await whereKeyActive(deletion, principal)) === 0) throw await whyNoEndpoint(trx, principal, id);
    await dropSome(trx, id);
  });
}

function ownEndpoints(db: Knex, principal: Principal): QueryBuilder<WebhookEndpoint, WebhookEndpoint[]> {
  return WebhookEndpoint.query(db)
    .where({ accountId: principal.accountId, livemode: principal.livemode })
    .whereNull('deletedAt');
}

async function whyNoEndpoint(db: Knex, principal: Principal, id: string): Promise<Refusal> {
  await requireActiveKey(db, principal);
  return noSuch('webhook endpoint', id);
}
