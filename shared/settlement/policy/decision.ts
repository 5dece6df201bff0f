import type { SearchPosition } from '../../chains/check/search-position.js';
import type { Certainty, Observation } from '../../payments/states.js';

/** Columns of the payment that are written together with its next due time. */
export interface Patch {
  settleEndedAt?: Date;
  settleUnclear?: boolean;
  /** The code of a refusal that waits for a chain check. */
  failureCode?: string | null;
  reportedTransaction?: string;
  unusedSeenAt?: Date | null;
  unreadableSince?: Date | null;
  searchPlace?: SearchPosition | null;
  usedSeenAt?: Date | null;
  /** The facilitator that settles the payment from now on. */
  facilitator?: string;
}

/** The proof that the money has moved. `proofIndex` is undefined when the facilitator or an operator says so. */
export interface Proof {
  transaction: string;
  payer: string | undefined;
  proofIndex: number | undefined;
}

/** Written to the payment's history: the source's words, with the row that decided and its certainty, if a row did. */
interface Evident {
  said: Omit<Observation, 'at' | 'row' | 'certain'>;
  row?: string;
  certain?: Certainty;
}

/** The next step of a payment. */
export type Decision = Evident &
  (
    | { kind: 'succeed'; proof: Proof }
    /** `released`: the payload surely never reached the facilitator, and may claim this session again. */
    | { kind: 'fail'; code: string; released: boolean; watchAt: Date | undefined }
    /** `notSent`: the call that was counted when the payment was taken was not made. */
    | { kind: 'settle_again'; at: Date; patch: Patch; notSent?: true }
    | { kind: 'check_again'; at: Date; patch: Patch }
    | { kind: 'stop_watching' }
  );

export function observed({ said, row, certain }: Evident): Omit<Observation, 'at'> {
  return { ...said, ...(row !== undefined && { row }), ...(certain && { certain }) };
}
