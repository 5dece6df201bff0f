import { getAddress, type Hex } from 'viem';
import { EVM_ADDRESS, EVM_WORD } from '../chains/networks/text-forms.js';
import { isJsonObject, type JsonObject } from '../values/json-object.js';
import type { SvmTransfer } from './svm-transaction.js';
import type { EvmPayload, FacilitatorRequest, PaymentRequirements, SvmPayload } from './wire.js';

/**
 * The signed part of a payment. Payload keys, checks and facilitator requests are built from the parsed values, so that
 * another spelling makes no second key and unknown fields are dropped: a facilitator would settle an unchecked
 * `permit2Authorization` next to the checked authorization.
 */
export type PaymentProof = EvmAuthorization | SvmTransfer;

export interface EvmAuthorization {
  family: 'evm';
  /** The payer's address with its checksum, like `to`. */
  from: Hex;
  to: Hex;
  value: bigint;
  /** Unix seconds, like `validBefore`. */
  validAfter: bigint;
  validBefore: bigint;
  /** Lower-case. */
  nonce: Hex;
  /** Unchanged: contract wallets' signatures have any form and length. */
  signature: string;
}

/** The part of a proof that makes it another payment. */
export type PayloadName =
  | Pick<EvmAuthorization, 'family' | 'from' | 'nonce'>
  | Pick<SvmTransfer, 'family' | 'messageHash'>;

const NONCE = EVM_WORD;
const DECIMAL = /^[0-9]{1,78}$/;
const MAX_UINT256 = 2n ** 256n - 1n;
const PRINTABLE = /^[!-~]+$/;
/** The end of the year 9999: many readers of timestamps accept four-digit years only. */
const LAST_SECOND = 253_402_300_799n;

export function parseAuthorization({ signature, authorization }: JsonObject): EvmAuthorization | undefined {
  if (typeof signature !== 'string' || !PRINTABLE.test(signature) || !isJsonObject(authorization)) {
    return undefined;
  }
  const from = parseAddress(authorization.from);
  const to = parseAddress(authorization.to);
  const value = parseUint256(authorization.value);
  const validAfter = parseUint256(authorization.validAfter);
  const validBefore = parseUint256(authorization.validBefore);
  const nonce = parseNonce(authorization.nonce);
  if (
    from === undefined ||
    to === undefined ||
    value === undefined ||
    validAfter === undefined ||
    validBefore === undefined ||
    nonce === undefined
  ) {
    return undefined;
  }
  return { family: 'evm', from, to, value, validAfter, validBefore, nonce, signature };
}

/** The same payment has the same key in every session and every notation. */
export function payloadKey(network: string, asset: string, proof: PayloadName): string {
  return proof.family === 'evm'
    ? [network, asset, proof.from, proof.nonce].join(':').toLowerCase()
    : [network, proof.messageHash].join(':');
}

/** When an EVM authorization ends; undefined for Solana, where the blockhash sets the end. */
export function endsAt(proof: PaymentProof): Date | undefined {
  if (proof.family === 'svm') return undefined;
  const second = proof.validBefore < LAST_SECOND ? proof.validBefore : LAST_SECOND;
  return new Date(Number(second) * 1000);
}

/**
 * Undefined when the transaction does not show who pays: with several transfers, or with programs that may move tokens, the
 * first transfer may be another wallet's.
 */
export function payer(proof: PaymentProof): string | undefined {
  if (proof.family === 'evm') return proof.from;
  const [transfer, ...others] = proof.transfers;
  return proof.isReadable && others.length === 0 ? transfer?.authority : undefined;
}

/** Writes the parsed values in one fixed notation. */
export function toWirePayload(proof: PaymentProof): EvmPayload | SvmPayload {
  if (proof.family === 'svm') return { transaction: proof.transactionBase64 };
  const { signature, from, to, value, validAfter, validBefore, nonce } = proof;
  return {
    signature,
    authorization: {
      from,
      to,
      value: value.toString(),
      validAfter: validAfter.toString(),
      validBefore: validBefore.toString(),
      nonce,
    },
  };
}

/** Sends our own entry, not the buyer's copy. */
export function buildFacilitatorRequest(
  requirements: PaymentRequirements,
  proof: PaymentProof,
): FacilitatorRequest {
  return {
    x402Version: 2,
    paymentPayload: { x402Version: 2, accepted: requirements, payload: toWirePayload(proof) },
    paymentRequirements: requirements,
  };
}

function parseAddress(value: unknown): Hex | undefined {
  return typeof value === 'string' && EVM_ADDRESS.test(value) ? getAddress(value.toLowerCase()) : undefined;
}

function parseUint256(value: unknown): bigint | undefined {
  if (typeof value !== 'string' || !DECIMAL.test(value)) return undefined;
  const number = BigInt(value);
  return number <= MAX_UINT256 ? number : undefined;
}

function parseNonce(value: unknown): Hex | undefined {
  return typeof value === 'string' && NONCE.test(value) ? `0x${value.slice(2).toLowerCase()}` : undefined;
}
