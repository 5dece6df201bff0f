import type { PaymentQuery } from '../../shared/chains/confirmation.js';
import { findToken } from '../../shared/chains/networks.js';
import type { Payment } from '../../shared/payments/model.js';
import { isJsonObject, type JsonObject } from '../../shared/x402/json-object.js';
import { buildFacilitatorRequest, type PaymentProof, parsePayload } from '../../shared/x402/payload.js';
import type { SvmTransfer, TokenTransfer } from '../../shared/x402/svm-transaction.js';
import type { FacilitatorRequest, PaymentRequirements } from '../../shared/x402/wire.js';

/** The facilitator's request, from what was checked and stored when the payment was claimed. */
export function facilitatorRequest(payment: Payment): FacilitatorRequest {
  return buildFacilitatorRequest(payment.requirements as PaymentRequirements, storedProof(payment));
}

/** What to look for on the payment's chain; it needs no table of tokens, which may have lost this one since. */
export function chainQuery(payment: Payment): PaymentQuery {
  const proof = storedProof(payment);
  const shared = {
    network: payment.network,
    payTo: payment.payTo,
    amount: BigInt(payment.tokenAmount),
    notBefore: payment.claimedAt,
    transactionHint: payment.reportedTransaction ?? undefined,
    place: payment.searchPlace ?? undefined,
  };
  if (proof.family === 'evm') {
    const { from, nonce, validBefore } = proof;
    return { family: 'evm', ...shared, asset: payment.asset, from, nonce, validBefore };
  }
  return {
    family: 'svm',
    ...shared,
    mint: payment.asset,
    tokenProgram: tokenProgram(payment, proof),
    signedTransaction: proof.transactionBase64,
  };
}

/** What cannot be read of the transaction is known of the token. */
function tokenProgram({ network, asset }: Payment, { transfers }: SvmTransfer): TokenTransfer['program'] {
  const transfer = transfers.find(({ mint }) => mint === asset);
  const token = findToken(network, asset);
  return transfer?.program ?? (token?.family === 'svm' ? token.program : 'spl-token');
}

function storedProof(payment: Payment): PaymentProof {
  const payload: JsonObject = isJsonObject(payment.payload) ? payment.payload : {};
  const proof = parsePayload(payment.network, payload);
  if (proof === undefined) throw new Error(`the stored payload of ${payment.id} cannot be read`);
  return proof;
}
