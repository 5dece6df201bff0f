import { type DescribedTool, NEXT_PAGE } from './merchant-tool.js';

/** Tools for events, webhook endpoints and keys. */
export const EVENT_TOOLS: readonly DescribedTool[] = [
  {
    name: 'list_events',
    title: 'List events',
    description: `Answers with a list of what happened, newest first, each event as webhook endpoints got it: its \`type\`, and in \`data.object\` the session as it was at that moment. Of one \`type\`, of one \`checkout_session\`, or of the time in \`created\`. ${NEXT_PAGE}`,
    operation: 'listEvents',
    effect: 'reads',
  },
  {
    name: 'retrieve_event',
    title: 'Look up an event',
    description:
      'Answers with one event as webhook endpoints got it: its `type`, and in `data.object` the session as it was at that moment. For a session as it is now call retrieve_checkout_session.',
    operation: 'retrieveEvent',
    effect: 'reads',
  },
  {
    name: 'resend_event',
    title: 'Deliver an event again',
    description:
      'Sends an event again under the same id, to `webhook_endpoint` or, without it, to every enabled endpoint that wants events of its type now. Answers with the event. Receivers that skip the ids they have seen are not bothered by it. An endpoint that is disabled is refused with code webhook_endpoint_disabled: turn it on with update_webhook_endpoint.',
    operation: 'resendEvent',
    effect: 'adds',
  },
  {
    name: 'create_webhook_endpoint',
    title: 'Create a webhook endpoint',
    description:
      'Registers a public URL that gets a signed POST for each event: checkout.session.completed when a session is paid, checkout.session.expired when it ends unpaid, refund.created and refund.updated of your refunds. Answers with the endpoint, and with its signing `secret` this one time: keep it where the receiver finds it to verify the Service-Signature header. For a single payment retrieve_checkout_session is enough.',
    operation: 'createWebhookEndpoint',
    effect: 'adds',
  },
  {
    name: 'retrieve_webhook_endpoint',
    title: 'Look up a webhook endpoint',
    description:
      'Answers with a webhook endpoint as it is now, without its secret. `status` `disabled` means that nothing is sent to it: its owner has turned it off, or its deliveries failed for three days. Turn it on with update_webhook_endpoint.',
    operation: 'retrieveWebhookEndpoint',
    effect: 'reads',
  },
  {
    name: 'list_webhook_endpoints',
    title: 'List webhook endpoints',
    description:
      'Answers with a list of the webhook endpoints of this mode (test or live, as the key is), newest first; all of them unless you send a `limit`.',
    operation: 'listWebhookEndpoints',
    effect: 'reads',
  },
  {
    name: 'update_webhook_endpoint',
    title: 'Change a webhook endpoint',
    description:
      'Changes what you send and leaves the rest: `url`, `enabled_events`, `description`. `disabled` true holds its deliveries back, false resumes them. Answers with the endpoint as it is then.',
    operation: 'updateWebhookEndpoint',
    effect: 'changes',
  },
  {
    name: 'list_webhook_deliveries',
    title: 'See what came of deliveries',
    description: `Answers why events did or did not arrive: a list of the deliveries to one webhook endpoint, newest first, all or those of one \`status\`. Each has its \`event\`, its \`tries\` (when, how long, the HTTP \`status\` or the \`error\`, the start of the answer) and \`next_try_at\`. One that has \`failed\` can be sent again with resend_event. ${NEXT_PAGE}`,
    operation: 'listWebhookDeliveries',
    effect: 'reads',
  },
  {
    name: 'roll_webhook_secret',
    title: 'Replace a signing secret',
    description:
      'Gives a webhook endpoint a new signing secret and answers with the endpoint and that `secret`, this one time. For `expires_in` seconds, a day unless you say otherwise, deliveries are signed with both, so that a receiver can change to the new one without missing any; 0 ends the old one at once, as after a leak. Rolling again meanwhile drops the oldest, so send an idempotency_key if you may have to repeat the call.',
    operation: 'rollWebhookSecret',
    effect: 'adds',
  },
  {
    name: 'delete_webhook_endpoint',
    title: 'Delete a webhook endpoint',
    description:
      'Deletes a webhook endpoint for good and drops the deliveries that it still waits for. Answers with its `id` and `deleted` true. To pause one, update it with `disabled` true instead.',
    operation: 'deleteWebhookEndpoint',
    effect: 'changes',
  },
  {
    name: 'list_keys',
    title: 'List checkout keys',
    description: `Answers with a list of the checkout keys of this mode (test or live, as the key that asks is), newest first, never with their secrets: \`name\`, \`access\` (\`read\` is a key that only reads), when it was \`last_used\`, to the hour, and the \`facilitator_key\` that made it, if one did. ${NEXT_PAGE}`,
    operation: 'listKeys',
    effect: 'reads',
  },
  {
    name: 'delete_key',
    title: 'Delete a checkout key',
    description:
      'Ends a checkout key for good: its next request is refused with 401. Answers with its `id` and `deleted` true. The key that you call with can delete itself, and you have no way in then; look at list_keys before.',
    operation: 'deleteKey',
    effect: 'changes',
  },
];
