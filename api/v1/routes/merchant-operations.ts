import type { Deps } from '../../deps/deps.js';
import {
  type CheckoutSessionOperations,
  checkoutSessionOperations,
} from '../checkout-sessions/operations.js';
import { type EventOperations, eventOperations } from '../events/operations.js';
import { type KeyOperations, keyOperations } from '../keys/operations.js';
import { type PaymentOperations, paymentOperations } from '../payments/operations.js';
import { type RefundOperations, refundOperations } from '../refunds/operations.js';
import { type ReportOperations, reportOperations } from '../reports/operations.js';
import { type DeliveryOperations, deliveryOperations } from '../webhook-endpoints/delivery-operations.js';
import {
  type WebhookEndpointOperations,
  webhookEndpointOperations,
} from '../webhook-endpoints/operations.js';

/** Every operation that a checkout key may call. */
export type MerchantOperations = CheckoutSessionOperations &
  PaymentOperations &
  RefundOperations &
  ReportOperations &
  EventOperations &
  DeliveryOperations &
  WebhookEndpointOperations &
  KeyOperations;

export function merchantOperations(deps: Deps): MerchantOperations {
  return {
    ...checkoutSessionOperations(deps),
    ...paymentOperations(deps),
    ...refundOperations(deps),
    ...reportOperations(deps),
    ...eventOperations(deps),
    ...deliveryOperations(deps),
    ...webhookEndpointOperations(deps),
    ...keyOperations(deps),
  };
}
