import { createHash } from 'node:crypto';
import type { PaymentRequirements } from '../../shared/x402/wire.js';

/** What a page shows of a session. Its revision is also what the page asks for while it is open. */
export type PageState =
  | { kind: 'open'; accepts: readonly PaymentRequirements[]; failureCode: string | undefined }
  /** The payment service is away; it will be back. */
  | { kind: 'busy' }
  /** There is no network to pay on. */
  | { kind: 'unavailable' }
  /** `since`: Unix seconds. A transaction is known when the payment service or the chain has named it. */
  | { kind: 'processing'; network: string; transactionUrl: string | null; since: number }
  | { kind: 'complete' }
  | { kind: 'expired' };

export function revisionOf(state: PageState): string {
  return createHash('sha256').update(JSON.stringify(state)).digest('base64url').slice(0, 12);
}
