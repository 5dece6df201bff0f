import type { TSchema } from 'typebox';
import {
  ENDPOINT_ID,
  EVENT_ID,
  KEY_ID,
  PAYMENT_ID,
  REFUND_ID,
  SESSION_ID,
} from '../openapi/merchant-paths.js';
import {
  CreateCheckoutSession,
  ExpireCheckoutSession,
  ListCheckoutSessions,
  RetrieveCheckoutSession,
} from '../v1/checkout-sessions/schema.js';
import { ListEvents, ResendEvent } from '../v1/events/schema.js';
import { ListKeys } from '../v1/keys/schema.js';
import type { MerchantOperations } from '../v1/merchant-operations.js';
import { ListPayments } from '../v1/payments/schema.js';
import { CancelRefund, CreateRefund, ListRefunds } from '../v1/refunds/schema.js';
import {
  CreateWebhookEndpoint,
  ListDeliveries,
  ListWebhookEndpoints,
  RollWebhookSecret,
  UpdateWebhookEndpoint,
} from '../v1/webhook-endpoints/schema.js';

/** An operation of /v1 as a tool. */
export interface MerchantTool {
  name: string;
  title: string;
  /** What it does, what comes back, and what to do next: all that an agent knows of it. */
  description: string;
  operation: keyof MerchantOperations;
  method: 'GET' | 'POST' | 'DELETE';
  /** Below /v1. */
  path: string;
  /** What the id in the path is. */
  id?: string;
  /** The schema that the operation validates its query or its body by. */
  parameters?: ParameterSchema;
  effect: Effect;
}

interface ParameterSchema extends TSchema {
  properties: Record<string, TSchema>;
  required?: readonly string[] | undefined;
}

/** Reads; adds something with each call; changes or ends what is there, where a second call changes nothing more. */
type Effect = 'reads' | 'adds' | 'changes';

const SESSIONS = '/checkout/sessions';
const REFUNDS = '/refunds';
const ENDPOINTS = '/webhook_endpoints';

const NEXT_PAGE =
  'When `has_more` is true, call again with `starting_after` set to the id of the last one in `data`.';

export const MERCHANT_TOOLS: readonly MerchantTool[] = [
  {
    name: 'create_checkout_session',
    title: 'Create a checkout session',
    description:
      'Asks for one payment. Answers with the checkout session: hand its `url` to the payer. A person opens it in a browser, an AI agent pays the very same address over x402. Then call retrieve_checkout_session with its `id` until `status` is `complete`: only then is it paid. It can be paid until `expires_at`, 24 hours from now unless you set it. Each call makes another session with another link, so send an idempotency_key if you may have to repeat the call.',
    operation: 'createCheckoutSession',
    method: 'POST',
    path: SESSIONS,
    parameters: CreateCheckoutSession,
    effect: 'adds',
  },
  {
    name: 'retrieve_checkout_session',
    title: 'Look up a checkout session',
    description:
      'Answers with a checkout session as it is now. `status` says where it stands: `open`, not paid yet, `url` is the link to pay it; `processing`, a payment is on its way, look again in a few seconds; `complete`, paid, and `payment` says by whom, in which token and by which transaction; `expired`, nobody can pay it any more, create another if it is still wanted. With expand ["line_items"] it shows what is sold.',
    operation: 'retrieveCheckoutSession',
    method: 'GET',
    path: `${SESSIONS}/{id}`,
    id: SESSION_ID,
    parameters: RetrieveCheckoutSession,
    effect: 'reads',
  },
  {
    name: 'list_checkout_sessions',
    title: 'List checkout sessions',
    description: `Answers with a list of checkout sessions, newest first: all, or those of one \`status\` or of the time in \`created\`. ${NEXT_PAGE}`,
    operation: 'listCheckoutSessions',
    method: 'GET',
    path: SESSIONS,
    parameters: ListCheckoutSessions,
    effect: 'reads',
  },
  {
    name: 'expire_checkout_session',
    title: 'Expire a checkout session',
    description:
      'Ends an open checkout session for good: nobody can pay its link from now on, and webhook endpoints get checkout.session.expired. Answers with the session, its `status` `expired`. A session that is not open is refused with code checkout_session_not_open; look it up to see whether it was paid meanwhile.',
    operation: 'expireCheckoutSession',
    method: 'POST',
    path: `${SESSIONS}/{id}/expire`,
    id: SESSION_ID,
    parameters: ExpireCheckoutSession,
    effect: 'changes',
  },
  {
    name: 'list_payments',
    title: 'List payments',
    description: `Answers with a list of the payments that succeeded, newest first: \`amount\` in US cents, \`token\` and \`network\`, \`payer\`, \`transaction\` with its \`transaction_url\`, and in \`checkout_session\` the id of the session that it paid. ${NEXT_PAGE}`,
    operation: 'listPayments',
    method: 'GET',
    path: '/payments',
    parameters: ListPayments,
    effect: 'reads',
  },
  {
    name: 'create_refund',
    title: 'Create a refund',
    description:
      'Prepares to give a payment back, whole or in part, to the wallet that paid it, in the same token on the same network. This service holds no money: the refund is a link that you pay. Answers with the refund: hand its `url` to your own wallet or x402 agent, before `expires_at`, 7 days from now unless you set it. Then call retrieve_refund with its `id` until `status` is `succeeded`: only then is the money back. The refunds of a payment never sum to more than it. Each call makes another refund, so send an idempotency_key if you may have to repeat the call.',
    operation: 'createRefund',
    method: 'POST',
    path: REFUNDS,
    parameters: CreateRefund,
    effect: 'adds',
  },
  {
    name: 'retrieve_refund',
    title: 'Look up a refund',
    description:
      'Answers with a refund as it is now. `status` says where it stands: `requires_action`, its link `url` waits for your payment, and `failure_code` says why the last one failed, if one did; `pending`, a payment of it is on its way, look again in a few seconds; `succeeded`, the buyer has the money back by `transaction`; `canceled`, nobody can pay it any more.',
    operation: 'retrieveRefund',
    method: 'GET',
    path: `${REFUNDS}/{id}`,
    id: REFUND_ID,
    effect: 'reads',
  },
  {
    name: 'list_refunds',
    title: 'List refunds',
    description: `Answers with a list of refunds, newest first: all, or those of one \`payment\`, of one \`status\` or of the time in \`created\`. ${NEXT_PAGE}`,
    operation: 'listRefunds',
    method: 'GET',
    path: REFUNDS,
    parameters: ListRefunds,
    effect: 'reads',
  },
  {
    name: 'cancel_refund',
    title: 'Cancel a refund',
    description:
      'Ends a refund that nobody has paid: its link cannot be paid from now on, and its amount can be refunded anew. Answers with the refund, its `status` `canceled`. A refund that is being paid, or was, is refused with code refund_not_cancelable.',
    operation: 'cancelRefund',
    method: 'POST',
    path: `${REFUNDS}/{id}/cancel`,
    id: REFUND_ID,
    parameters: CancelRefund,
    effect: 'changes',
  },
  {
    name: 'retrieve_payment',
    title: 'Look up a payment',
    description:
      'Answers with one payment, whatever came of it: `status` is `succeeded`, `processing` while the network is confirming it, or `failed`, when no money moved. `checkout_session` is the id of the session that it was for.',
    operation: 'retrievePayment',
    method: 'GET',
    path: '/payments/{id}',
    id: PAYMENT_ID,
    effect: 'reads',
  },
  {
    name: 'list_events',
    title: 'List events',
    description: `Answers with a list of what happened, newest first, each event as webhook endpoints got it: its \`type\`, and in \`data.object\` the session as it was at that moment. Of one \`type\`, of one \`checkout_session\`, or of the time in \`created\`. ${NEXT_PAGE}`,
    operation: 'listEvents',
    method: 'GET',
    path: '/events',
    parameters: ListEvents,
    effect: 'reads',
  },
  {
    name: 'retrieve_event',
    title: 'Look up an event',
    description:
      'Answers with one event as webhook endpoints got it: its `type`, and in `data.object` the session as it was at that moment. For a session as it is now call retrieve_checkout_session.',
    operation: 'retrieveEvent',
    method: 'GET',
    path: '/events/{id}',
    id: EVENT_ID,
    effect: 'reads',
  },
  {
    name: 'resend_event',
    title: 'Deliver an event again',
    description:
      'Sends an event again under the same id, to `webhook_endpoint` or, without it, to every enabled endpoint that wants events of its type now. Answers with the event. Receivers that skip the ids they have seen are not bothered by it. An endpoint that is disabled is refused with code webhook_endpoint_disabled: turn it on with update_webhook_endpoint.',
    operation: 'resendEvent',
    method: 'POST',
    path: '/events/{id}/resend',
    id: EVENT_ID,
    parameters: ResendEvent,
    effect: 'adds',
  },
  {
    name: 'create_webhook_endpoint',
    title: 'Create a webhook endpoint',
    description:
      'Registers a public URL that gets a signed POST for each event: checkout.session.completed when a session is paid, checkout.session.expired when it ends unpaid, refund.created and refund.updated of your refunds. Answers with the endpoint, and with its signing `secret` this one time: keep it where the receiver finds it to verify the Service-Signature header. For a single payment retrieve_checkout_session is enough.',
    operation: 'createWebhookEndpoint',
    method: 'POST',
    path: ENDPOINTS,
    parameters: CreateWebhookEndpoint,
    effect: 'adds',
  },
  {
    name: 'retrieve_webhook_endpoint',
    title: 'Look up a webhook endpoint',
    description:
      'Answers with a webhook endpoint as it is now, without its secret. `status` `disabled` means that nothing is sent to it: its owner has turned it off, or its deliveries failed for three days. Turn it on with update_webhook_endpoint.',
    operation: 'retrieveWebhookEndpoint',
    method: 'GET',
    path: `${ENDPOINTS}/{id}`,
    id: ENDPOINT_ID,
    effect: 'reads',
  },
  {
    name: 'list_webhook_endpoints',
    title: 'List webhook endpoints',
    description:
      'Answers with a list of the webhook endpoints of this mode (test or live, as the key is), newest first; all of them unless you send a `limit`.',
    operation: 'listWebhookEndpoints',
    method: 'GET',
    path: ENDPOINTS,
    parameters: ListWebhookEndpoints,
    effect: 'reads',
  },
  {
    name: 'update_webhook_endpoint',
    title: 'Change a webhook endpoint',
    description:
      'Changes what you send and leaves the rest: `url`, `enabled_events`, `description`. `disabled` true holds its deliveries back, false resumes them. Answers with the endpoint as it is then.',
    operation: 'updateWebhookEndpoint',
    method: 'POST',
    path: `${ENDPOINTS}/{id}`,
    id: ENDPOINT_ID,
    parameters: UpdateWebhookEndpoint,
    effect: 'changes',
  },
  {
    name: 'list_webhook_deliveries',
    title: 'See what came of deliveries',
    description: `Answers why events did or did not arrive: a list of the deliveries to one webhook endpoint, newest first, all or those of one \`status\`. Each has its \`event\`, its \`tries\` (when, how long, the HTTP \`status\` or the \`error\`, the start of the answer) and \`next_try_at\`. One that has \`failed\` can be sent again with resend_event. ${NEXT_PAGE}`,
    operation: 'listWebhookDeliveries',
    method: 'GET',
    path: `${ENDPOINTS}/{id}/deliveries`,
    id: ENDPOINT_ID,
    parameters: ListDeliveries,
    effect: 'reads',
  },
  {
    name: 'roll_webhook_secret',
    title: 'Replace a signing secret',
    description:
      'Gives a webhook endpoint a new signing secret and answers with the endpoint and that `secret`, this one time. For `expires_in` seconds, a day unless you say otherwise, deliveries are signed with both, so that a receiver can change to the new one without missing any; 0 ends the old one at once, as after a leak. Rolling again meanwhile drops the oldest, so send an idempotency_key if you may have to repeat the call.',
    operation: 'rollWebhookSecret',
    method: 'POST',
    path: `${ENDPOINTS}/{id}/roll_secret`,
    id: ENDPOINT_ID,
    parameters: RollWebhookSecret,
    effect: 'adds',
  },
  {
    name: 'delete_webhook_endpoint',
    title: 'Delete a webhook endpoint',
    description:
      'Deletes a webhook endpoint for good and drops the deliveries that it still waits for. Answers with its `id` and `deleted` true. To pause one, update it with `disabled` true instead.',
    operation: 'deleteWebhookEndpoint',
    method: 'DELETE',
    path: `${ENDPOINTS}/{id}`,
    id: ENDPOINT_ID,
    effect: 'changes',
  },
  {
    name: 'list_keys',
    title: 'List checkout keys',
    description: `Answers with a list of the checkout keys of this mode (test or live, as the key that asks is), newest first, never with their secrets: \`name\`, when it was \`last_used\`, to the hour, and the \`facilitator_key\` that made it, if one did. ${NEXT_PAGE}`,
    operation: 'listKeys',
    method: 'GET',
    path: '/keys',
    parameters: ListKeys,
    effect: 'reads',
  },
  {
    name: 'delete_key',
    title: 'Delete a checkout key',
    description:
      'Ends a checkout key for good: its next request is refused with 401. Answers with its `id` and `deleted` true. The key that you call with can delete itself, and you have no way in then; look at list_keys before.',
    operation: 'deleteKey',
    method: 'DELETE',
    path: '/keys/{id}',
    id: KEY_ID,
    effect: 'changes',
  },
];
