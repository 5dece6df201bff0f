import { parseWalletOn } from '../chains/networks/wallet-address.js';
import { associatedTokenAccount } from '../chains/solana/associated-token-account.js';
import { isJsonObject } from '../values/json-object.js';
import { parsePayload } from './parse-payload.js';
import { type PaymentProof, payer } from './payload.js';

interface Paid {
  network: string;
  payload: object;
  /** The facilitator's answer. */
  payer: string | null;
}

/**
 * The wallet to which a refund of the payment goes. The signed payload takes precedence over the facilitator's answer.
 * Undefined when neither names a wallet, when no money can be sent to it, or when it may be a delegate.
 */
export function walletThatPaid({ network, payload, payer: named }: Paid): string | undefined {
  const proof = isJsonObject(payload) ? parsePayload(network, payload) : undefined;
  const signer = (proof && payer(proof)) ?? named;
  const wallet = signer === null ? undefined : parseWalletOn(network, signer);
  return wallet !== undefined && proof !== undefined && mayBeDelegate(proof, wallet) ? undefined : wallet;
}

/** On Solana an owner may let another wallet spend from its token account: the signer then spends money of the owner. */
function mayBeDelegate(proof: PaymentProof, wallet: string): boolean {
  const transfers = proof.family === 'svm' ? proof.transfers : [];
  return transfers.some(
    ({ authority, source, mint, program }) =>
      authority === wallet && source !== associatedTokenAccount(wallet, { address: mint, program }),
  );
}
