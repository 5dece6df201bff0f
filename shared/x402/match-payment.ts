import { findNetworkByV1Name } from '../chains/networks/networks.js';
import { isSameAddress } from '../chains/networks/text-forms.js';
import type { JsonObject } from '../values/json-object.js';
import { describeFailure, type Failure } from './failure-codes.js';
import type { WellFormedHeader } from './headers.js';
import { parsePayload } from './parse-payload.js';
import { type PaymentProof, payloadKey } from './payload.js';
import { recoversToPayer } from './recovers-to-payer.js';
import type { SupportedKinds } from './requirements.js';
import type { PaymentRequirements } from './wire.js';

export interface Offer {
  accepts: readonly PaymentRequirements[];
  supported: SupportedKinds;
  /** Solana fee payers in earlier offers of this payable. */
  offeredFeePayers: readonly string[];
}

export type PaymentMatch =
  | { ok: true; requirements: PaymentRequirements; proof: PaymentProof }
  | ({ ok: false } & Failure);

/** A payload of version 1 has no `accepted`. */
const NAMES_NO_TOKEN =
  'Several tokens are offered on this network, and this payment does not show for which one it is. Send a payload of x402 version 2, whose `accepted` is the chosen entry of `accepts`.';

/**
 * Finds the entry that a payment pays. The result holds our own entry, never the buyer's copy. Only the Solana fee payer is
 * taken from the signed transaction, if the facilitator lists it or we offered it.
 */
export async function matchPayment(header: WellFormedHeader, offer: Offer): Promise<PaymentMatch> {
  switch (header.kind) {
    case 'other_version':
      return refused('invalid_x402_version');
    case 'v2':
      return matchAccepted(header.accepted, header.payload, offer);
    case 'v1':
      return await matchNetworkName(header, offer);
  }
}

function matchAccepted(accepted: JsonObject, payload: JsonObject, offer: Offer): PaymentMatch {
  const { scheme, network, asset, payTo, amount } = accepted;
  if (typeof scheme === 'string' && scheme !== 'exact') return refused('unsupported_scheme');
  const onNetwork = offer.accepts.filter((entry) => entry.network === network);
  if (typeof network === 'string' && onNetwork.length === 0) return refused('invalid_network');
  const entry = onNetwork.find(
    (offered) =>
      offered.scheme === scheme &&
      offered.amount === amount &&
      isSameAddress(offered.network, offered.asset, asset) &&
      isSameAddress(offered.network, offered.payTo, payTo),
  );
  if (entry === undefined) return refused('invalid_payment_requirements');
  return matched(entry, parsePayload(entry.network, payload), offer);
}

/** Version 1 names only a network. When several tokens are offered there, the signed payment decides. */
async function matchNetworkName(
  header: Extract<WellFormedHeader, { kind: 'v1' }>,
  offer: Offer,
): Promise<PaymentMatch> {
  if (header.scheme !== 'exact') return refused('unsupported_scheme');
  const network = findNetworkByV1Name(header.network)?.caip2;
  const onNetwork = offer.accepts.filter((entry) => entry.network === network);
  const [first, ...others] = onNetwork;
  if (first === undefined) return refused('invalid_network');

  const proof = parsePayload(first.network, header.payload);
  if (proof === undefined || others.length === 0) return matched(first, proof, offer);
  const fitting = await findFitting(onNetwork, proof);
  const [entry] = fitting;
  return entry !== undefined && fitting.length === 1
    ? matched(entry, proof, offer)
    : { ...refused('invalid_payment_requirements'), message: NAMES_NO_TOKEN };
}

async function findFitting(
  entries: readonly PaymentRequirements[],
  proof: PaymentProof,
): Promise<PaymentRequirements[]> {
  if (proof.family === 'svm') {
    return entries.filter(({ asset }) => proof.transfers.some(({ mint }) => mint === asset));
  }
  const fits = await Promise.all(entries.map((entry) => recoversToPayer(proof, entry)));
  return entries.filter((_, index) => fits[index]);
}

function matched(entry: PaymentRequirements, proof: PaymentProof | undefined, offer: Offer): PaymentMatch {
  if (proof === undefined) return refused('invalid_payload');
  if (proof.family === 'evm') return { ok: true, requirements: entry, proof };
  const { feePayer } = proof;
  const isKnown =
    offer.supported.get(entry.network)?.includes(feePayer) || offer.offeredFeePayers.includes(feePayer);
  const offered = 'feePayer' in entry.extra ? entry.extra.feePayer : feePayer;
  // The memo is left out: a facilitator would refuse a transaction that lacks it, or to which a wallet has added another.
  const extra = { feePayer: isKnown ? feePayer : offered };
  return { ok: true, requirements: { ...entry, extra }, proof };
}

/** Whether the header repeats a stored payment, compared by payload key. */
export function isSamePayment(
  header: WellFormedHeader,
  made: { network: string; asset: string; payloadKey: string },
): boolean {
  if (header.kind === 'other_version') return false;
  const isThere =
    header.kind === 'v1'
      ? findNetworkByV1Name(header.network)?.caip2 === made.network
      : header.accepted.network === made.network &&
        isSameAddress(made.network, made.asset, header.accepted.asset);
  const proof = isThere ? parsePayload(made.network, header.payload) : undefined;
  return proof !== undefined && payloadKey(made.network, made.asset, proof) === made.payloadKey;
}

function refused(reason: string): Extract<PaymentMatch, { ok: false }> {
  return { ok: false, ...describeFailure(reason) };
}
