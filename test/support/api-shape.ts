import { TEXT_NAMES } from './session-fields.js';

/** The fields of each object, and the fields that may be missing. */
export const OBJECT_FIELDS: Record<string, { fields: string; optional?: string }> = {
  CheckoutSession: {
    fields: `id object amount_subtotal amount_total ${TEXT_NAMES.join(' ')} created currency expires_at livemode metadata mode payment_method_types payment_status status url payment line_items`,
    optional: 'line_items',
  },
  LineItem: { fields: 'id object amount_subtotal amount_total currency description quantity price' },
  Payment: {
    fields:
      'id object status amount currency token token_amount token_decimals network network_name payer pay_to channel transaction transaction_url created settled_at livemode failure_code checkout_session refund',
    optional: 'failure_code checkout_session refund',
  },
  Refund: {
    fields:
      'id object amount currency payment checkout_session status reason metadata created expires_at livemode token token_amount token_decimals network network_name pay_to url transaction transaction_url settled_at failure_code',
  },
  DailyReport: { fields: 'object date currency payments amount refunds refunded surplus by' },
  WebhookEndpoint: {
    fields: 'id object url enabled_events status livemode description created secret',
    optional: 'secret',
  },
  DeletedWebhookEndpoint: { fields: 'id object deleted' },
  Event: { fields: 'id object api_version created livemode type data' },
  ApiKey: {
    fields: 'object id name livemode access secret payout_wallets created last_used facilitator_key',
    optional: 'secret last_used facilitator_key',
  },
  DeletedApiKey: { fields: 'id object deleted' },
  WebhookDelivery: { fields: 'id object event type status created next_try_at tries' },
  CheckoutSessionList: { fields: 'object url has_more data' },
  LineItemList: { fields: 'object url has_more data' },
  PaymentList: { fields: 'object url has_more data' },
  DailyReportList: { fields: 'object url has_more data' },
  RefundList: { fields: 'object url has_more data' },
  WebhookEndpointList: { fields: 'object url has_more data' },
  WebhookDeliveryList: { fields: 'object url has_more data' },
  EventList: { fields: 'object url has_more data' },
  ApiKeyList: { fields: 'object url has_more data' },
};

/** Every operation with its possible statuses. */
export const OPERATION_STATUSES: Record<string, number[]> = {
  'POST /v1/checkout/sessions': [200, 400, 401, 403, 408, 429, 431, 500, 503],
  'GET /v1/checkout/sessions': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/checkout/sessions/{id}': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'POST /v1/checkout/sessions/{id}/expire': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'GET /v1/checkout/sessions/{id}/line_items': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/payments': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/payments/{id}': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/events': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/events/{id}': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'POST /v1/events/{id}/resend': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'POST /v1/refunds': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'GET /v1/refunds': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/refunds/{id}': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'POST /v1/refunds/{id}/cancel': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'POST /v1/webhook_endpoints': [200, 400, 401, 403, 408, 429, 431, 500, 503],
  'GET /v1/webhook_endpoints': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'GET /v1/webhook_endpoints/{id}': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'POST /v1/webhook_endpoints/{id}': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'DELETE /v1/webhook_endpoints/{id}': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'GET /v1/webhook_endpoints/{id}/deliveries': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'POST /v1/webhook_endpoints/{id}/roll_secret': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'GET /v1/reports/daily': [200, 400, 401, 408, 429, 431, 500, 503],
  'GET /v1/keys': [200, 400, 401, 404, 408, 429, 431, 500, 503],
  'DELETE /v1/keys/{id}': [200, 400, 401, 403, 404, 408, 429, 431, 500, 503],
  'POST /v1/keys': [200, 400, 401, 408, 429, 431, 500, 503],
};
