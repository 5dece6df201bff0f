import { randomBytes } from 'node:crypto';
import { type Hex, isAddressEqual, recoverTypedDataAddress } from 'viem';
import { nowMs } from '../../../shared/process/clock.js';
import type { EvmPayload, FacilitatorRequest, PaymentRequirements } from '../../../shared/x402/wire.js';
import { AUTHORIZATION_TYPES } from '../shop/agent.js';
import { type Judgement, judge, type Movement, type RuleOptions } from './judgement.js';

/** The library requires that an authorization is valid for at least this long. */
const LEAST_SECONDS_LEFT = 6n;

export async function judgeAuthorization(
  { paymentPayload, paymentRequirements }: FacilitatorRequest,
  { strict }: RuleOptions,
  isUsed: () => boolean,
): Promise<Judgement> {
  const payload = paymentPayload.payload as EvmPayload;
  const { from, to, value, validAfter, validBefore } = payload.authorization;
  const { network, payTo, amount, extra } = paymentRequirements;
  const nowSeconds = BigInt(Math.floor(nowMs() / 1000));
  return judge(
    [
      ['invalid_exact_evm_missing_eip712_domain', 'name' in extra],
      ['invalid_exact_evm_network_mismatch', paymentPayload.accepted.network === network],
      ['invalid_exact_evm_signature', !strict || (await isSignedByPayer(payload, paymentRequirements))],
      ['invalid_exact_evm_recipient_mismatch', to.toLowerCase() === payTo.toLowerCase()],
      [
        'invalid_exact_evm_payload_authorization_valid_before',
        BigInt(validBefore) >= nowSeconds + LEAST_SECONDS_LEFT,
      ],
      ['invalid_exact_evm_payload_authorization_valid_after', BigInt(validAfter) <= nowSeconds],
      ['invalid_exact_evm_payload_authorization_value_mismatch', BigInt(value) === BigInt(amount)],
      ['invalid_exact_evm_nonce_already_used', !isUsed()],
    ],
    from,
  );
}

export function readAuthorization({
  paymentPayload,
}: FacilitatorRequest): Omit<Movement, 'network' | 'asset' | 'to'> {
  const { authorization } = paymentPayload.payload as EvmPayload;
  return {
    from: authorization.from,
    amount: BigInt(authorization.value),
    transaction: `0x${randomBytes(32).toString('hex')}`,
    paymentId: authorization.nonce.toLowerCase(),
  };
}

async function isSignedByPayer(
  { signature, authorization }: EvmPayload,
  requirements: PaymentRequirements,
): Promise<boolean> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const signer = recoverTypedDataAddress({
    domain: {
      ...('name' in requirements.extra ? requirements.extra : {}),
      chainId: Number(requirements.network.split(':')[1]),
      verifyingContract: requirements.asset as Hex,
    },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from as Hex,
      to: to as Hex,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as Hex,
    },
    signature: signature as Hex,
  });
  return await signer.then(
    (address) => isAddressEqual(address, from as Hex),
    () => false,
  );
}
