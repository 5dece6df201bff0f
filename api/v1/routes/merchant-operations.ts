import type { Deps } from '../../deps/deps.js';
import { checkoutSessionOperations } from '../checkout-sessions/operations.js';
import { eventOperations } from '../events/operations.js';
import { keyOperations } from '../keys/operations.js';
import { paymentOperations } from '../payments/operations.js';
import { refundOperations } from '../refunds/operations.js';
import { reportOperations } from '../reports/operations.js';
import { deliveryOperations, webhookEndpointOperations } from '../webhook-endpoints/operations.js';

/** Every operation that a checkout key may call. */
export function merchantOperations(deps: Deps) {
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

export type MerchantOperations = ReturnType<typeof merchantOperations>;
