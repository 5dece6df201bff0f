import { Type } from 'typebox';
import { KEY_ACCESS } from '../../shared/accounts/model.js';
import { TOKEN_SYMBOLS } from '../../shared/chains/networks/networks.js';
import { REFUND_STATUSES } from '../../shared/payables/refund-statuses.js';
import { REFUND_REASONS } from '../../shared/payables/refund-terms.js';
import { PAYABLE_STATUSES } from '../../shared/payables/states.js';
import { CHANNELS, PAYMENT_STATUSES } from '../../shared/payments/states.js';
import { type FieldType, fieldsBy, inWireOrder, SESSION_FIELDS } from '../../shared/session-fields/fields.js';
import { API_VERSION, EVENT_TYPES, SUBSCRIBABLE_EVENTS } from '../../shared/webhooks/event-types.js';
import { DELIVERY_STATUSES, ENDPOINT_STATUSES } from '../../shared/webhooks/states.js';
import { strictObject } from '../input/strict-object.js';

/** The objects in answers of the API, for /openapi.json. The tests check answers against these schemas. */
export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const ref = (name: string) => Type.Unsafe<object>({ $ref: `#/components/schemas/${name}` });
const listOf = (name: string) =>
  strictObject({
    object: Type.Literal('list'),
    url: Type.String(),
    has_more: Type.Boolean(),
    data: Type.Array(ref(name)),
  });
const deleted = (object: string) =>
  strictObject({ id: Type.String(), object: Type.Literal(object), deleted: Type.Literal(true) });
export const Timestamp = Type.Integer({ description: 'Unix seconds.' });
export const Cents = Type.Integer({ minimum: 0, description: 'US cents.' });
export const TokenAmount = Type.String({ pattern: '^[0-9]+$', description: "In the token's smallest unit." });
export const Caip2 = Type.String({ description: 'CAIP-2.' });
export const Uri = Type.String({ format: 'uri' });
export const PaymentStatus = Type.Enum(['unpaid', 'paid']);
const Count = Type.Integer({ minimum: 0 });

const FIELDS_SHOWN: Record<FieldType, Type.TSchema> = {
  text: nullable(Type.String()),
  metadata: Type.Record(Type.String(), Type.String()),
  time: Timestamp,
};

const CHECKOUT_SESSION = {
  ...fieldsBy('name', SESSION_FIELDS, ({ type }) => FIELDS_SHOWN[type]),
  id: Type.String({ pattern: '^cs_(live|test)_[A-Za-z0-9]+$' }),
  object: Type.Literal('checkout.session'),
  amount_subtotal: Cents,
  amount_total: Cents,
  created: Timestamp,
  currency: Type.Literal('usd'),
  livemode: Type.Boolean(),
  mode: Type.Literal('payment'),
  payment_method_types: Type.Array(Type.Literal('crypto')),
  payment_status: PaymentStatus,
  status: Type.Enum([...PAYABLE_STATUSES]),
  url: nullable(Uri),
  payment: nullable(ref('Payment')),
  line_items: Type.Optional(ref('LineItemList')),
};

export const REFUND = {
  id: Type.String({ pattern: '^re_[A-Za-z0-9]+$' }),
  object: Type.Literal('refund'),
  amount: Cents,
  currency: Type.Literal('usd'),
  payment: Type.String({ description: 'The id of the refunded payment.' }),
  checkout_session: Type.String({ description: 'The id of the session of that payment.' }),
  status: Type.Enum([...REFUND_STATUSES], {
    description:
      'requires_action: the link waits for your payment. pending: your payment is being confirmed. succeeded: the money was sent back. canceled: by you, or because the refund expired.',
  }),
  reason: nullable(Type.Enum([...REFUND_REASONS])),
  metadata: Type.Record(Type.String(), Type.String()),
  created: Timestamp,
  expires_at: Timestamp,
  livemode: Type.Boolean(),
  token: Type.Enum([...TOKEN_SYMBOLS]),
  token_amount: TokenAmount,
  token_decimals: Type.Integer(),
  network: Caip2,
  network_name: Type.String(),
  pay_to: Type.String({ description: 'The wallet that paid.' }),
  url: nullable(
    Type.String({ format: 'uri', description: 'The payment link of the refund, for your wallet or agent.' }),
  ),
  transaction: nullable(Type.String()),
  transaction_url: nullable(Uri),
  settled_at: nullable(Timestamp),
  failure_code: nullable(Type.String({ description: 'Why the last payment of the refund failed.' })),
};

export const RESOURCE_SCHEMAS = {
  CheckoutSession: strictObject(inWireOrder(CHECKOUT_SESSION)),
  LineItem: strictObject({
    id: Type.String({ pattern: '^li_[A-Za-z0-9]+$' }),
    object: Type.Literal('item'),
    amount_subtotal: Cents,
    amount_total: Cents,
    currency: Type.Literal('usd'),
    description: Type.String({ description: 'The product name.' }),
    quantity: Type.Integer({ minimum: 1 }),
    price: strictObject({
      object: Type.Literal('price'),
      currency: Type.Literal('usd'),
      unit_amount: Cents,
      product_data: strictObject({
        name: Type.String(),
        description: nullable(Type.String()),
        images: Type.Array(Type.String()),
      }),
    }),
  }),
  Payment: strictObject({
    id: Type.String({ pattern: '^pay_[A-Za-z0-9]+$' }),
    object: Type.Literal('payment'),
    status: Type.Enum([...PAYMENT_STATUSES]),
    amount: Cents,
    currency: Type.Literal('usd'),
    token: Type.Enum([...TOKEN_SYMBOLS]),
    token_amount: TokenAmount,
    token_decimals: Type.Integer(),
    network: Caip2,
    network_name: Type.String(),
    payer: nullable(Type.String()),
    pay_to: Type.String(),
    channel: Type.Enum([...CHANNELS]),
    transaction: nullable(Type.String()),
    transaction_url: nullable(Uri),
    created: Timestamp,
    settled_at: nullable(Timestamp),
    livemode: Type.Boolean(),
    failure_code: Type.Optional(
      nullable(
        Type.String({
          description:
            'Why the payment failed; present when it did. `outcome_unknown`: its money may have moved, so do not ask the buyer to pay again before you have looked into your wallet.',
        }),
      ),
    ),
    checkout_session: Type.Optional(
      Type.String({
        description: 'The id of the session. Present when the payment is read alone or in a list.',
      }),
    ),
    refund: Type.Optional(
      Type.String({
        description: 'The id of the refund, in place of checkout_session, when the payment paid a refund.',
      }),
    ),
  }),
  Refund: strictObject(REFUND),
  DailyReport: strictObject({
    object: Type.Literal('daily_report'),
    date: Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
    currency: Type.Literal('usd'),
    payments: Count,
    amount: Type.Integer({ description: 'US cents of these payments, without `surplus`.' }),
    refunds: Type.Integer({ minimum: 0, description: 'The refunds that succeeded on this day.' }),
    refunded: Cents,
    surplus: Type.Integer({
      description: 'US cents of payments that arrived for a session which another payment had paid.',
    }),
    by: Type.Array(
      strictObject({
        token: Type.Enum([...TOKEN_SYMBOLS]),
        network: Caip2,
        network_name: Type.String(),
        payments: Count,
        amount: Cents,
        token_amount: TokenAmount,
        refunds: Count,
        refunded: Cents,
      }),
    ),
  }),
  WebhookEndpoint: strictObject({
    id: Type.String({ pattern: '^we_[A-Za-z0-9]+$' }),
    object: Type.Literal('webhook_endpoint'),
    url: Uri,
    enabled_events: Type.Array(Type.Enum([...SUBSCRIBABLE_EVENTS])),
    status: Type.Enum([...ENDPOINT_STATUSES]),
    livemode: Type.Boolean(),
    description: nullable(Type.String()),
    created: Timestamp,
    secret: Type.Optional(
      Type.String({ description: 'The signing secret. Only in the answers to create and roll.' }),
    ),
  }),
  DeletedWebhookEndpoint: deleted('webhook_endpoint'),
  WebhookDelivery: strictObject({
    id: Type.String({ pattern: '^wd_[A-Za-z0-9]+$' }),
    object: Type.Literal('webhook_delivery'),
    event: Type.String({ description: 'The id of the event.' }),
    type: Type.Enum([...EVENT_TYPES]),
    status: Type.Enum([...DELIVERY_STATUSES], {
      description:
        'pending: more tries follow. failed: the last try failed. dropped: the endpoint was deleted.',
    }),
    created: Timestamp,
    next_try_at: nullable(
      Type.Integer({
        description:
          'Unix seconds. While a try is in flight: when the next one follows if its outcome is lost. Null when the delivery has ended or is held.',
      }),
    ),
    tries: Type.Array(
      strictObject({
        at: Timestamp,
        duration_ms: Type.Integer({ minimum: 0 }),
        status: nullable(Type.Integer({ description: 'The HTTP status of the answer.' })),
        error: nullable(
          Type.String({ description: 'Why there was no answer: timeout, ECONNREFUSED, ENOTPUBLIC, ….' }),
        ),
        answer: nullable(Type.String({ description: "The start of the answer's body, kept for 30 days." })),
      }),
      { description: 'Oldest first.' },
    ),
  }),
  Event: strictObject({
    id: Type.String({ pattern: '^evt_[A-Za-z0-9]+$', description: 'Use it to skip duplicate deliveries.' }),
    object: Type.Literal('event'),
    api_version: Type.Literal(API_VERSION),
    created: Timestamp,
    livemode: Type.Boolean(),
    type: Type.Enum([...EVENT_TYPES]),
    data: strictObject({ object: Type.Union([ref('CheckoutSession'), ref('Refund')]) }),
  }),
  ApiKey: strictObject({
    object: Type.Literal('api_key'),
    id: Type.String({ pattern: '^key_[A-Za-z0-9]+$' }),
    name: Type.String(),
    livemode: Type.Boolean(),
    access: Type.Enum([...KEY_ACCESS], {
      description: 'A key with `read` is refused with code key_read_only for anything but GET.',
    }),
    secret: Type.Optional(Type.String({ description: 'Only in the answer that creates the key.' })),
    payout_wallets: strictObject({ evm: nullable(Type.String()), solana: nullable(Type.String()) }),
    created: Timestamp,
    last_used: Type.Optional(
      nullable(
        Type.Integer({ description: 'Unix seconds, to the hour; null before the first use. Only in lists.' }),
      ),
    ),
    facilitator_key: Type.Optional(
      nullable(
        Type.String({
          description: 'The facilitator key whose token created the key, if one did. Only in lists.',
        }),
      ),
    ),
  }),
  DeletedApiKey: deleted('api_key'),
  CheckoutSessionList: listOf('CheckoutSession'),
  LineItemList: listOf('LineItem'),
  PaymentList: listOf('Payment'),
  ApiKeyList: listOf('ApiKey'),
  EventList: listOf('Event'),
  WebhookDeliveryList: listOf('WebhookDelivery'),
  RefundList: listOf('Refund'),
  DailyReportList: listOf('DailyReport'),
  WebhookEndpointList: listOf('WebhookEndpoint'),
  Error: strictObject({
    error: strictObject({
      type: Type.Enum(['invalid_request_error', 'authentication_error', 'idempotency_error', 'api_error']),
      code: Type.String({ description: 'One of the codes at `/docs/errors`.' }),
      message: Type.String({ description: 'A sentence that says what to change.' }),
      param: Type.Optional(Type.String({ description: 'The wrong parameter, in bracket notation.' })),
      doc_url: Type.Optional(Type.String({ format: 'uri', description: 'What the code means.' })),
      request_id: Type.String(),
    }),
  }),
};

export type ResourceName = keyof typeof RESOURCE_SCHEMAS;
