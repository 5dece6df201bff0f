import { x402Facilitator } from '@x402/core/facilitator';
import { isPaymentPayload, isPaymentRequirements } from '@x402/core/schemas';
import type {
  Network,
  PaymentPayload,
  PaymentRequirements,
  SchemeNetworkFacilitator,
} from '@x402/core/types';
import { isJsonObject } from '../../../shared/x402/json-object.js';

/** The stock x402 facilitator; its exceptions become answers. */
export interface StockFacilitator {
  supported(): object;
  verify(request: FacilitatorRequest): Promise<object>;
  settle(request: FacilitatorRequest): Promise<object>;
}

export interface FacilitatorRequest {
  payload: PaymentPayload;
  requirements: PaymentRequirements;
}

export type Refusal = { refused: string };

export function createStockFacilitator(
  schemes: readonly (readonly [string, SchemeNetworkFacilitator])[],
): StockFacilitator {
  const facilitator = new x402Facilitator();
  // Each network is registered by itself: registered together, the package would match other networks of the same
  // family.
  for (const [network, scheme] of schemes) facilitator.register(network as Network, scheme);
  return {
    supported: () => facilitator.getSupported(),
    async verify({ payload, requirements }) {
      try {
        return await facilitator.verify(payload, requirements);
      } catch (error) {
        return { isValid: false, invalidReason: reasonOf(error, 'unexpected_verify_error') };
      }
    },
    async settle({ payload, requirements }) {
      const { network } = requirements;
      try {
        return await facilitator.settle(payload, requirements);
      } catch (error) {
        const errorReason = reasonOf(error, 'unexpected_settle_error');
        return { success: false, errorReason, transaction: '', network };
      }
    },
  };
}

/** Parses the body of /verify and /settle, or names the reason for refusing it. */
export function readRequest(body: unknown): FacilitatorRequest | Refusal {
  const { x402Version, paymentPayload, paymentRequirements } = isJsonObject(body) ? body : {};
  if (x402Version !== 2) return { refused: 'invalid_x402_version' };
  if (!isPayload(paymentPayload)) return { refused: 'invalid_payload' };
  if (!isRequirements(paymentRequirements)) return { refused: 'invalid_payment_requirements' };
  return { payload: paymentPayload, requirements: paymentRequirements };
}

function isPayload(value: unknown): value is PaymentPayload {
  return isPaymentPayload(value) && value.x402Version === 2;
}

function isRequirements(value: unknown): value is PaymentRequirements {
  return isPaymentRequirements(value) && 'amount' in value;
}

function reasonOf(error: unknown, otherwise: string): string {
  const said = error instanceof Error ? error.message : '';
  if (!said.includes('No facilitator registered')) return otherwise;
  return said.includes('scheme: exact') ? 'invalid_network' : 'unsupported_scheme';
}
