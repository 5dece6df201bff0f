import { createHash } from 'node:crypto';
import type { UncertainPayment } from '../../shared/x402/failure-codes.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';

/**
 * The state that a page shows. An open page polls the revision of its state. `uncertain`: the last payment of the session,
 * when it may have been taken.
 */
export type PageState =
  | {
      kind: 'open';
      accepts: readonly PaymentRequirements[];
      failureCode: string | undefined;
      uncertain: UncertainPayment | undefined;
    }
  /** The payment service is temporarily unavailable. */
  | { kind: 'busy'; uncertain: UncertainPayment | undefined }
  /** No network is payable. */
  | { kind: 'unavailable'; uncertain: UncertainPayment | undefined }
  /**
   * `since`: Unix seconds. `transactionUrl`: set once the facilitator or the chain has reported the transaction. `payer`: the
   * wallet, by which a tab knows its own payment.
   */
  | {
      kind: 'processing';
      network: string;
      transactionUrl: string | null;
      since: number;
      payer: string | null;
    }
  | { kind: 'complete' }
  | { kind: 'expired'; uncertain: UncertainPayment | undefined };

export function revisionOf(state: PageState): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 12);
}
