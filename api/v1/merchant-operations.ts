import type { Deps } from '../deps.js';
import { type CheckoutSessionOperations, checkoutSessionOperations } from './checkout-sessions/operations.js';
import { type PaymentOperations, paymentOperations } from './payments/operations.js';
import { type RefundOperations, refundOperations } from './refunds/operations.js';
import { type WebhookEndpointOperations, webhookEndpointOperations } from './webhook-endpoints/operations.js';

/** All that a checkout key opens. */
export type MerchantOperations = CheckoutSessionOperations &
  PaymentOperations &
  RefundOperations &
  WebhookEndpointOperations;

export function merchantOperations(deps: Deps): MerchantOperations {
  return {
    ...checkoutSessionOperations(deps),
    ...paymentOperations(deps),
    ...refundOperations(deps),
    ...webhookEndpointOperations(deps),
  };
}
