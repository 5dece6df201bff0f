import { Keypair } from '@solana/web3.js';
import { type FacilitatorOptions, startFacilitator } from '../../lab/world/facilitator/facilitator.js';
import { type Checkout, openCheckout } from './checkout.js';

/** The facilitator's accounts that pay fees on Solana. */
export const FEE_PAYER = Keypair.generate().publicKey.toBase58();
export const OTHER_FEE_PAYER = Keypair.generate().publicKey.toBase58();

/** Opens a web process only: reading payment requirements needs no worker. */
export async function openQuotes(options: FacilitatorOptions = {}): Promise<Checkout> {
  const facilitator = await startFacilitator({ feePayers: [FEE_PAYER, OTHER_FEE_PAYER], ...options });
  return await openCheckout({ facilitator, worker: false });
}
