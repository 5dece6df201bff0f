import { createHash } from 'node:crypto';
import type { PaymentRequirements } from '../../shared/x402/wire.js';

/** The state that a page shows. An open page polls the revision of its state. */
export type PageState =
  | { kind: 'open'; accepts: readonly PaymentRequirements[]; failureCode: string | undefined }
  /** The payment service is temporarily unavailable. */
  | { kind: 'busy' }
  /** No network is payable. */
  | { kind: 'unavailable' }
  /** `since`: Unix seconds. `transactionUrl`: set once the facilitator or the chain has reported the transaction. */
  | { kind: 'processing'; network: string; transactionUrl: string | null; since: number }
  | { kind: 'complete' }
  | { kind: 'expired' };

export function revisionOf(state: PageState): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 12);
}
