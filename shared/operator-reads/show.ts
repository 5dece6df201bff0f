import { getAccount } from '../accounts/accounts.js';
import { listApiKeys } from '../accounts/api-keys.js';
import { listFacilitatorKeys } from '../accounts/facilitator-keys.js';
import { type Account, ApiKey } from '../accounts/model.js';
import { presentAccount, presentApiKey, presentFacilitatorKey } from '../accounts/present.js';
import { CheckoutSession } from '../checkout-sessions/model.js';
import { presentCheckoutSession } from '../checkout-sessions/present.js';
import type { Knex } from '../db/knex.js';
import { requireFound } from '../errors/refusal.js';
import type { Payable } from '../payables/model.js';
import { Payment } from '../payments/model.js';
import { presentOperatorPayment } from '../payments/present-operator.js';
import { Refund } from '../refunds/model.js';
import { presentRefund } from '../refunds/present.js';
import { refundsOf } from '../refunds/read.js';
import { isRefundId } from '../values/ids.js';
import { Event, WebhookDelivery, WebhookEndpoint } from '../webhooks/model.js';
import { presentEventHead, presentOperatorEndpoint, presentWebhookDelivery } from '../webhooks/present.js';

/**
 * An object of any account with what belongs to it, for the operator who has an id from a merchant, a buyer or a log line.
 * Each list is read by an index and has a limit.
 */
export interface Shown {
  answer: object;
  /** The account, when the id is an account's. */
  account?: Account;
}

export interface ShowContext {
  db: Knex;
  baseUrl: string;
}

type Show = (context: ShowContext, id: string) => Promise<Shown>;

/** More payments, events or deliveries of one object are left out, the oldest first. */
const MOST_LISTED = 100;

const KINDS: readonly (readonly [prefix: string, show: Show])[] = [
  ['acct_', showAccount],
  ['cs_', showPayable],
  ['re_', showPayable],
  ['pay_', showPayment],
  ['evt_', showEvent],
  ['we_', showEndpoint],
  ['wd_', showDelivery],
  ['key_', showKey],
];

/** Undefined when the text does not begin like an id. */
export async function showById(context: ShowContext, id: string): Promise<Shown | undefined> {
  const [, show] = KINDS.find(([prefix]) => id.startsWith(prefix)) ?? [];
  return await show?.(context, id);
}

/** Shows the row of this id, which was read just before. */
export async function getById(context: ShowContext, id: string): Promise<Shown> {
  return requireFound(await showById(context, id), 'object', id);
}

async function showAccount({ db }: ShowContext, id: string): Promise<Shown> {
  const account = await getAccount(db, id);
  const [keys, facilitatorKeys, endpoints] = await Promise.all([
    listApiKeys(db, id),
    listFacilitatorKeys(db, id),
    WebhookEndpoint.query(db).where('accountId', id).whereNull('deletedAt').orderBy('id'),
  ]);
  const answer = {
    ...presentAccount(account),
    keys: keys.map(presentApiKey),
    facilitator_keys: facilitatorKeys.map(presentFacilitatorKey),
    webhook_endpoints: endpoints.map((endpoint) => presentOperatorEndpoint(endpoint)),
  };
  return { answer, account };
}

async function showPayable({ db, baseUrl }: ShowContext, id: string): Promise<Shown> {
  const isRefund = isRefundId(id);
  const found = await (isRefund ? Refund : CheckoutSession).query(db).findById(id);
  const payable = requireFound(found, isRefund ? 'refund' : 'checkout session', id);
  const [account, payments] = await Promise.all([getAccount(db, payable.accountId), paymentsOf(db, id)]);
  payable.payment = payments.find((payment) => payment.id === payable.paymentId) ?? null;
  return {
    answer: {
      ...presentPayable(payable, baseUrl),
      account: presentAccount(account),
      payments: payments.map(presentOperatorPayment),
      ...(!isRefund && { refunds: await presentRefundsOf(db, payments, baseUrl) }),
      events: await presentEventsOf(db, id),
    },
  };
}

export function presentPayable(payable: Payable, baseUrl: string): object {
  return isRefundId(payable.id)
    ? presentRefund(payable, baseUrl)
    : presentCheckoutSession(payable, { baseUrl, expand: payable.lineItems ? ['line_items'] : [] });
}

async function paymentsOf(db: Knex, payableId: string): Promise<Payment[]> {
  const newest = await Payment.query(db).where({ payableId }).orderBy('id', 'desc').limit(MOST_LISTED);
  return newest.reverse();
}

async function presentRefundsOf(db: Knex, payments: readonly Payment[], baseUrl: string): Promise<object[]> {
  const succeeded = payments.filter(({ status }) => status === 'succeeded');
  const refunds = await Promise.all(succeeded.map(({ id }) => refundsOf(db, id)));
  return refunds.flat().map((refund) => presentRefund(refund, baseUrl));
}

async function showPayment({ db, baseUrl }: ShowContext, id: string): Promise<Shown> {
  const payment = requireFound(await Payment.query(db).findById(id), 'payment', id);
  const account = await getAccount(db, payment.accountId);
  return {
    answer: {
      ...presentOperatorPayment(payment),
      account: presentAccount(account),
      refunds: await presentRefundsOf(db, [payment], baseUrl),
      events: await presentEventsOf(db, payment.payableId),
    },
  };
}

async function presentEventsOf(db: Knex, payableId: string): Promise<object[]> {
  const newest = await Event.query(db)
    .where({ payableId })
    .select('id', 'livemode', 'type')
    .orderBy('id', 'desc')
    .limit(MOST_LISTED);
  const events = newest.reverse();
  const deliveries = await Promise.all(events.map((event) => presentDeliveriesOf(db, event)));
  return events.map((event, index) => ({ ...presentEventHead(event), deliveries: deliveries[index] }));
}

async function presentDeliveriesOf(db: Knex, { id, type }: Pick<Event, 'id' | 'type'>): Promise<object[]> {
  const newest = await WebhookDelivery.query(db)
    .where('eventId', id)
    .orderBy('id', 'desc')
    .limit(MOST_LISTED);
  const endpoints = await WebhookEndpoint.query(db).findByIds(newest.map(({ endpointId }) => endpointId));
  const holding = new Set(endpoints.filter(holdsDeliveries).map((endpoint) => endpoint.id));
  return newest.reverse().map((delivery) => {
    const { endpointId } = delivery;
    const presented = presentWebhookDelivery({ delivery, type, isHeld: holding.has(endpointId) });
    return { ...presented, webhook_endpoint: endpointId };
  });
}

async function showEvent({ db }: ShowContext, id: string): Promise<Shown> {
  const event = requireFound(await Event.query(db).findById(id), 'event', id);
  const [account, payments, deliveries] = await Promise.all([
    getAccount(db, event.accountId),
    paymentsOf(db, event.payableId),
    presentDeliveriesOf(db, event),
  ]);
  return {
    answer: {
      ...presentEventHead(event),
      data: { object: event.object },
      account: presentAccount(account),
      payments: payments.map(presentOperatorPayment),
      deliveries,
    },
  };
}

const holdsDeliveries = ({ status, unreadableSince }: WebhookEndpoint): boolean =>
  status === 'disabled' || unreadableSince !== null;

async function showEndpoint({ db }: ShowContext, id: string): Promise<Shown> {
  const endpoint = requireFound(await WebhookEndpoint.query(db).findById(id), 'webhook endpoint', id);
  const [account, deliveries] = await Promise.all([
    getAccount(db, endpoint.accountId),
    WebhookDelivery.query(db).where('endpointId', id).orderBy('id', 'desc').limit(MOST_LISTED),
  ]);
  const types = await typesOf(db, deliveries);
  return {
    answer: {
      ...presentOperatorEndpoint(endpoint),
      deleted: endpoint.deletedAt !== null,
      account: presentAccount(account),
      deliveries: deliveries.map((delivery) => {
        const type = types.get(delivery.eventId) ?? '';
        return presentWebhookDelivery({ delivery, type, isHeld: holdsDeliveries(endpoint) });
      }),
    },
  };
}

async function typesOf(db: Knex, deliveries: readonly WebhookDelivery[]): Promise<Map<string, string>> {
  const ids = [...new Set(deliveries.map(({ eventId }) => eventId))];
  const events = await Event.query(db).findByIds(ids).select('id', 'type');
  return new Map(events.map(({ id, type }) => [id, type]));
}

async function showDelivery({ db }: ShowContext, id: string): Promise<Shown> {
  const delivery = requireFound(await WebhookDelivery.query(db).findById(id), 'webhook delivery', id);
  const [event, endpoint] = await Promise.all([
    Event.query(db).findById(delivery.eventId).throwIfNotFound(),
    WebhookEndpoint.query(db).findById(delivery.endpointId).throwIfNotFound(),
  ]);
  const account = await getAccount(db, event.accountId);
  return {
    answer: {
      ...presentWebhookDelivery({ delivery, type: event.type, isHeld: holdsDeliveries(endpoint) }),
      about: event.payableId,
      webhook_endpoint: presentOperatorEndpoint(endpoint),
      account: presentAccount(account),
    },
  };
}

async function showKey({ db }: ShowContext, id: string): Promise<Shown> {
  const key = requireFound(await ApiKey.query(db).findById(id), 'API key', id);
  return {
    answer: { ...presentApiKey(key), account: presentAccount(await getAccount(db, key.accountId)) },
  };
}
