import type { PaymentQuery } from '../chains/chains.js';
import type { SearchPosition } from '../chains/check/search-position.js';
import { findToken } from '../chains/networks/networks.js';
import { isEvm } from '../chains/networks/text-forms.js';
import { lazy } from '../process/lazy.js';
import { isJsonObject, type JsonObject } from '../values/json-object.js';
import { buildFacilitatorRequest, type PaymentProof, parseAuthorization } from './payload.js';
import type { SvmTransfer, TokenTransfer } from './svm-transaction.js';
import type { FacilitatorRequest, PaymentRequirements } from './wire.js';

/** The checked input that was stored when the payment was claimed, and its transaction, if one is known. */
interface StoredPayment {
  id: string;
  network: string;
  asset: string;
  payTo: string;
  tokenAmount: string;
  claimedAt: Date;
  requirements: object;
  payload: object;
  reportedTransaction: string | null;
  searchPlace: SearchPosition | null;
}

export interface PaymentQuestions {
  /** The body of `/verify` and `/settle`. */
  facilitatorRequest: FacilitatorRequest;
  chainQuery: PaymentQuery;
}

/** The questions for the payment's facilitator and its chain. */
export async function readStoredPayment(payment: StoredPayment): Promise<PaymentQuestions> {
  const payload: JsonObject = isJsonObject(payment.payload) ? payment.payload : {};
  const proof = await parseStored(payment.network, payload);
  if (proof === undefined) throw new Error(`the stored payload of ${payment.id} cannot be read`);
  return {
    facilitatorRequest: buildFacilitatorRequest(payment.requirements as PaymentRequirements, proof),
    chainQuery: chainQuery(payment, proof),
  };
}

/** A worker loads @solana/web3.js, which takes 0.15 s of processor, with the first Solana payment. */
const loadParsePayload = lazy(() => import('./parse-payload.js'));

async function parseStored(network: string, payload: JsonObject): Promise<PaymentProof | undefined> {
  if (isEvm(network)) return parseAuthorization(payload);
  const { parsePayload } = await loadParsePayload();
  return parsePayload(network, payload);
}

/** A payment that was not stored, or is not stored any more, with the time at which the search for it begins. */
export function queryForUnstored(
  { network, asset, payTo, amount }: PaymentRequirements,
  proof: PaymentProof,
  notBefore: Date,
): PaymentQuery {
  const unknown = { reportedTransaction: null, searchPlace: null };
  return chainQuery({ network, asset, payTo, tokenAmount: amount, claimedAt: notBefore, ...unknown }, proof);
}

type QueriedPayment = Omit<StoredPayment, 'id' | 'requirements' | 'payload'>;

function chainQuery(payment: QueriedPayment, proof: PaymentProof): PaymentQuery {
  const shared: Omit<PaymentQuery, 'family'> = {
    network: payment.network,
    payTo: payment.payTo,
    amount: BigInt(payment.tokenAmount),
    notBefore: payment.claimedAt,
    transactionHint: payment.reportedTransaction ?? undefined,
    position: payment.searchPlace ?? undefined,
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

/** The table of tokens may have lost this token since; it is asked only when the transaction does not name the program. */
function tokenProgram(
  { network, asset }: QueriedPayment,
  { transfers }: SvmTransfer,
): TokenTransfer['program'] {
  const transfer = transfers.find(({ mint }) => mint === asset);
  const token = findToken(network, asset);
  return transfer?.program ?? (token?.family === 'svm' ? token.program : 'spl-token');
}
