import { type DescribedTool, NEXT_PAGE } from './merchant-tool.js';

/** Tools for checkout sessions, payments and refunds. */
export const MONEY_TOOLS: readonly DescribedTool[] = [
  {
    name: 'create_checkout_session',
    title: 'Create a checkout session',
    description:
      'Asks for one payment. Answers with the checkout session: hand its `url` to the payer. A person opens it in a browser, an AI agent pays the very same address over x402. Then call retrieve_checkout_session with its `id` until `status` is `complete`: only then is it paid. It can be paid until `expires_at`, 24 hours from now unless you set it. Each call makes another session with another link, so send an idempotency_key if you may have to repeat the call.',
    operation: 'createCheckoutSession',
    effect: 'adds',
  },
  {
    name: 'retrieve_checkout_session',
    title: 'Look up a checkout session',
    description:
      'Answers with a checkout session as it is now. `status` says where it stands: `open`, not paid yet, `url` is the link to pay it; `processing`, a payment is on its way, look again in a few seconds; `complete`, paid, and `payment` says by whom, in which token and by which transaction; `expired`, nobody can pay it any more, create another if it is still wanted. With expand ["line_items"] it shows what is sold.',
    operation: 'retrieveCheckoutSession',
    effect: 'reads',
  },
  {
    name: 'list_checkout_sessions',
    title: 'List checkout sessions',
    description: `Answers with a list of checkout sessions, newest first: all, or those of one \`status\`, of the time in \`created\`, of one \`client_reference_id\` or of one \`customer_email\`. ${NEXT_PAGE}`,
    operation: 'listCheckoutSessions',
    effect: 'reads',
  },
  {
    name: 'expire_checkout_session',
    title: 'Expire a checkout session',
    description:
      'Ends an open checkout session for good: nobody can pay its link from now on, and webhook endpoints get checkout.session.expired. Answers with the session, its `status` `expired`. A session that is not open is refused with code checkout_session_not_open; look it up to see whether it was paid meanwhile.',
    operation: 'expireCheckoutSession',
    effect: 'changes',
  },
  {
    name: 'retrieve_payment',
    title: 'Look up a payment',
    description:
      'Answers with one payment, whatever came of it: `status` is `succeeded`, `processing` while the network is confirming it, or `failed`, when no money moved. `checkout_session` is the id of the session that it was for.',
    operation: 'retrievePayment',
    effect: 'reads',
  },
  {
    name: 'list_payments',
    title: 'List payments',
    description: `Answers with a list of the payments that succeeded, or have another \`status\`, newest first: \`amount\` in US cents, \`token\` and \`network\`, \`payer\`, \`transaction\` with its \`transaction_url\`, and in \`checkout_session\` the id of the session that it paid. \`payer\`, \`transaction\`, \`token\`, \`network\` and \`checkout_session\` find those that have it. ${NEXT_PAGE}`,
    operation: 'listPayments',
    effect: 'reads',
  },
  {
    name: 'create_refund',
    title: 'Create a refund',
    description:
      'Prepares to give a payment back, whole or in part, to the wallet that paid it, in the same token on the same network. This service holds no money: the refund is a link that you pay. Answers with the refund: hand its `url` to your own wallet or x402 agent, before `expires_at`, 7 days from now unless you set it. Then call retrieve_refund with its `id` until `status` is `succeeded`: only then is the money back. The refunds of a payment never sum to more than it. Each call makes another refund, so send an idempotency_key if you may have to repeat the call.',
    operation: 'createRefund',
    effect: 'adds',
  },
  {
    name: 'retrieve_refund',
    title: 'Look up a refund',
    description:
      'Answers with a refund as it is now. `status` says where it stands: `requires_action`, its link `url` waits for your payment, and `failure_code` says why the last one failed, if one did; `pending`, a payment of it is on its way, look again in a few seconds; `succeeded`, the buyer has the money back by `transaction`; `canceled`, nobody can pay it any more.',
    operation: 'retrieveRefund',
    effect: 'reads',
  },
  {
    name: 'list_refunds',
    title: 'List refunds',
    description: `Answers with a list of refunds, newest first: all, or those of one \`payment\`, of one \`status\` or of the time in \`created\`. ${NEXT_PAGE}`,
    operation: 'listRefunds',
    effect: 'reads',
  },
  {
    name: 'cancel_refund',
    title: 'Cancel a refund',
    description:
      'Ends a refund that nobody has paid: its link cannot be paid from now on, and its amount can be refunded anew. Answers with the refund, its `status` `canceled`. A refund that is being paid, or was, is refused with code refund_not_cancelable.',
    operation: 'cancelRefund',
    effect: 'changes',
  },
  {
    name: 'retrieve_daily_reports',
    title: 'Report the totals of each day',
    description:
      'Answers with one report for each day from `from` to `to`, the first day first, days without payments included: the number of `payments` and their `amount` in US cents, `refunds` and what was `refunded`, and `by` token and network. `surplus` is what buyers paid twice, and is not part of `amount`: give it back with create_refund. Days are those of `timezone`.',
    operation: 'listDailyReports',
    effect: 'reads',
  },
];
