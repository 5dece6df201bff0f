import { parseWalletOn } from '../chains/wallet-address.js';
import { isJsonObject } from './json-object.js';
import { type PaymentProof, parsePayload, payer } from './payload.js';

interface Paid {
  network: string;
  /** As it was stored. */
  payload: object;
  /** As the facilitator has it. */
  payer: string | null;
}

/**
 * Where a payment's money came from, to be sent back to: what was signed says it, whatever the facilitator has called the
 * payer. Undefined when nobody knows, or no money can be sent there.
 */
export function walletThatPaid({ network, payload, payer: named }: Paid): string | undefined {
  const proof = isJsonObject(payload) ? parsePayload(network, payload) : undefined;
  const wallet = (proof && showsAllMoves(proof) ? payer(proof) : undefined) ?? named;
  return wallet === null ? undefined : parseWalletOn(network, wallet);
}

/** Of several transfers, or where a program may move tokens by itself, the first says little of who pays. */
function showsAllMoves(proof: PaymentProof): boolean {
  return proof.family === 'evm' || (proof.isReadable && proof.transfers.length === 1);
}
