import { x402Facilitator } from '@x402/core/facilitator';
import { isPaymentPayload, isPaymentRequirements } from '@x402/core/schemas';
import type {
  Network,
  PaymentPayload,
  PaymentRequirements,
  SchemeNetworkFacilitator,
} from '@x402/core/types';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import type { Rules } from '../../world/facilitator/rules.js';
import { watchBroadcast } from './broadcasts.js';

/** The stock x402 facilitator; its exceptions become answers. `onPayment` is called before a payment is processed. */
export function createStockRules(
  schemes: readonly (readonly [string, SchemeNetworkFacilitator])[],
  onPayment: (request: FacilitatorRequest) => void,
): Rules {
  const facilitator = new x402Facilitator();
  // Each network is registered by itself: registered together, the package would match other networks of the same
  // family.
  for (const [network, scheme] of schemes) facilitator.register(network as Network, scheme);
  return {
    supported: () => facilitator.getSupported(),
    async verify(request) {
      try {
        onPayment(request);
        return await facilitator.verify(...partsOf(request));
      } catch (error) {
        return { isValid: false, invalidReason: reasonOf(error, 'unexpected_verify_error') };
      }
    },
    async settle(request, onBroadcast) {
      const { network } = request.paymentRequirements;
      try {
        onPayment(request);
        return await watchBroadcast(onBroadcast, () => facilitator.settle(...partsOf(request)));
      } catch (error) {
        const errorReason = reasonOf(error, 'unexpected_settle_error');
        return { success: false, errorReason, transaction: '', network };
      }
    },
  };
}

function partsOf({
  paymentPayload,
  paymentRequirements,
}: FacilitatorRequest): [PaymentPayload, PaymentRequirements] {
  if (!isPayload(paymentPayload)) throw new Error('invalid_payload');
  if (!isRequirements(paymentRequirements)) throw new Error('invalid_payment_requirements');
  return [paymentPayload, paymentRequirements];
}

function isPayload(value: unknown): value is PaymentPayload {
  return isPaymentPayload(value) && value.x402Version === 2;
}

function isRequirements(value: unknown): value is PaymentRequirements {
  return isPaymentRequirements(value) && 'amount' in value;
}

function reasonOf(error: unknown, otherwise: string): string {
  const said = error instanceof Error ? error.message : '';
  if (/^invalid_payload$|^invalid_payment_requirements$/.test(said)) return said;
  if (!said.includes('No facilitator registered')) return otherwise;
  return said.includes('scheme: exact') ? 'invalid_network' : 'unsupported_scheme';
}
