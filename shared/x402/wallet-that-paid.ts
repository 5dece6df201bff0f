import { parseWalletOn } from '../chains/wallet-address.js';
import { isJsonObject } from './json-object.js';
import { parsePayload } from './parse-payload.js';
import { payer } from './payload.js';

interface Paid {
  network: string;
  payload: object;
  /** The facilitator's answer. */
  payer: string | null;
}

/**
 * The wallet to which a refund of the payment goes. The signed payload takes precedence over the facilitator's answer.
 * Undefined when neither names a wallet, or when no money can be sent to it.
 */
export function walletThatPaid({ network, payload, payer: named }: Paid): string | undefined {
  const proof = isJsonObject(payload) ? parsePayload(network, payload) : undefined;
  const wallet = (proof && payer(proof)) ?? named;
  return wallet === null ? undefined : parseWalletOn(network, wallet);
}
