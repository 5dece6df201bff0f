import { Type } from 'typebox';
import { SESSION_STATUSES } from '../../shared/domain/checkout-session.js';
import { CHANNELS, PAYMENT_STATUSES, TOKENS } from '../../shared/domain/payment.js';
import { REFUND_REASONS, REFUND_STATUSES } from '../../shared/domain/refund.js';
import {
  API_VERSION,
  ENDPOINT_STATUSES,
  EVENT_TYPES,
  SUBSCRIBABLE_EVENTS,
} from '../../shared/domain/webhook-event.js';

/** The objects that the API answers with, as they appear in /openapi.json; the suite holds answers against them. */
export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const strict = <T extends Type.TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });
export const ref = (name: string) => Type.Unsafe<object>({ $ref: `#/components/schemas/${name}` });
const listOf = (name: string) =>
  strict({
    object: Type.Literal('list'),
    url: Type.String(),
    has_more: Type.Boolean(),
    data: Type.Array(ref(name)),
  });
const Timestamp = Type.Integer({ description: 'Unix seconds.' });
const Cents = Type.Integer({ minimum: 0, description: 'US cents.' });
const Uri = Type.String({ format: 'uri' });

export const REFUND = {
  id: Type.String({ pattern: '^re_[A-Za-z0-9]+$' }),
  object: Type.Literal('refund'),
  amount: Cents,
  currency: Type.Literal('usd'),
  payment: Type.String({ description: 'The payment that it gives back.' }),
  checkout_session: Type.String({ description: 'The session of that payment.' }),
  status: Type.Enum([...REFUND_STATUSES], {
    description:
      'requires_action: its link waits for your payment. pending: that is being confirmed. succeeded: the money is back. canceled: by you, or its time was over.',
  }),
  reason: nullable(Type.Enum([...REFUND_REASONS])),
  metadata: Type.Record(Type.String(), Type.String()),
  created: Timestamp,
  expires_at: Timestamp,
  livemode: Type.Boolean(),
  token: Type.Enum([...TOKENS]),
  token_amount: Type.String({ pattern: '^[0-9]+$', description: "In the token's smallest unit." }),
  token_decimals: Type.Integer(),
  network: Type.String({ description: 'CAIP-2.' }),
  network_name: Type.String(),
  pay_to: Type.String({ description: 'The wallet that paid.' }),
  url: nullable(Type.String({ format: 'uri', description: 'The link, for your wallet or agent.' })),
  transaction: nullable(Type.String()),
  transaction_url: nullable(Uri),
  settled_at: nullable(Timestamp),
  failure_code: nullable(Type.String({ description: 'Why the last payment of it failed.' })),
};

export const RESOURCE_SCHEMAS = {
  CheckoutSession: strict({
    id: Type.String({ pattern: '^cs_(live|test)_[A-Za-z0-9]+$' }),
    object: Type.Literal('checkout.session'),
    amount_subtotal: Cents,
    amount_total: Cents,
    cancel_url: nullable(Type.String()),
    client_reference_id: nullable(Type.String()),
    created: Timestamp,
    currency: Type.Literal('usd'),
    customer_email: nullable(Type.String()),
    expires_at: Timestamp,
    livemode: Type.Boolean(),
    metadata: Type.Record(Type.String(), Type.String()),
    mode: Type.Literal('payment'),
    payment_method_types: Type.Array(Type.Literal('crypto')),
    payment_status: Type.Enum(['unpaid', 'paid']),
    status: Type.Enum([...SESSION_STATUSES]),
    success_url: nullable(Type.String()),
    url: nullable(Uri),
    payment: nullable(ref('Payment')),
    line_items: Type.Optional(ref('LineItemList')),
  }),
  LineItem: strict({
    id: Type.String({ pattern: '^li_[A-Za-z0-9]+$' }),
    object: Type.Literal('item'),
    amount_subtotal: Cents,
    amount_total: Cents,
    currency: Type.Literal('usd'),
    description: Type.String({ description: 'The product name.' }),
    quantity: Type.Integer({ minimum: 1 }),
    price: strict({
      object: Type.Literal('price'),
      currency: Type.Literal('usd'),
      unit_amount: Cents,
      product_data: strict({
        name: Type.String(),
        description: nullable(Type.String()),
        images: Type.Array(Type.String()),
      }),
    }),
  }),
  Payment: strict({
    id: Type.String({ pattern: '^pay_[A-Za-z0-9]+$' }),
    object: Type.Literal('payment'),
    status: Type.Enum([...PAYMENT_STATUSES]),
    amount: Cents,
    currency: Type.Literal('usd'),
    token: Type.Enum([...TOKENS]),
    token_amount: Type.String({ pattern: '^[0-9]+$', description: "In the token's smallest unit." }),
    token_decimals: Type.Integer(),
    network: Type.String({ description: 'CAIP-2.' }),
    network_name: Type.String(),
    payer: nullable(Type.String()),
    pay_to: Type.String(),
    channel: Type.Enum([...CHANNELS]),
    transaction: nullable(Type.String()),
    transaction_url: nullable(Uri),
    created: Timestamp,
    settled_at: nullable(Timestamp),
    livemode: Type.Boolean(),
    checkout_session: Type.Optional(Type.String({ description: 'Present in the payments list.' })),
    refund: Type.Optional(Type.String({ description: 'Of a payment of a refund, in its place.' })),
  }),
  Refund: strict(REFUND),
  WebhookEndpoint: strict({
    id: Type.String({ pattern: '^we_[A-Za-z0-9]+$' }),
    object: Type.Literal('webhook_endpoint'),
    url: Uri,
    enabled_events: Type.Array(Type.Enum([...SUBSCRIBABLE_EVENTS])),
    status: Type.Enum([...ENDPOINT_STATUSES]),
    livemode: Type.Boolean(),
    description: nullable(Type.String()),
    created: Timestamp,
    secret: Type.Optional(Type.String({ description: 'The signing secret; only in the create response.' })),
  }),
  DeletedWebhookEndpoint: strict({
    id: Type.String(),
    object: Type.Literal('webhook_endpoint'),
    deleted: Type.Literal(true),
  }),
  Event: strict({
    id: Type.String({ pattern: '^evt_[A-Za-z0-9]+$', description: 'Use it to skip duplicate deliveries.' }),
    object: Type.Literal('event'),
    api_version: Type.Literal(API_VERSION),
    created: Timestamp,
    livemode: Type.Boolean(),
    type: Type.Enum([...EVENT_TYPES]),
    data: strict({ object: Type.Union([ref('CheckoutSession'), ref('Refund')]) }),
  }),
  ApiKey: strict({
    object: Type.Literal('api_key'),
    id: Type.String({ pattern: '^key_[A-Za-z0-9]+$' }),
    name: Type.String(),
    livemode: Type.Boolean(),
    secret: Type.String({ description: 'Shown only in this response.' }),
    payout_wallets: strict({ evm: nullable(Type.String()), solana: nullable(Type.String()) }),
    created: Timestamp,
  }),
  CheckoutSessionList: listOf('CheckoutSession'),
  LineItemList: listOf('LineItem'),
  PaymentList: listOf('Payment'),
  RefundList: listOf('Refund'),
  WebhookEndpointList: listOf('WebhookEndpoint'),
  Error: strict({
    error: strict({
      type: Type.Enum(['invalid_request_error', 'authentication_error', 'idempotency_error', 'api_error']),
      code: Type.String(),
      message: Type.String({ description: 'A sentence that says what to change.' }),
      param: Type.Optional(Type.String({ description: 'The parameter at fault, in bracket notation.' })),
      doc_url: Type.Optional(Uri),
      request_id: Type.String(),
    }),
  }),
};

export type ResourceName = keyof typeof RESOURCE_SCHEMAS;
