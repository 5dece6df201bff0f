import { isAddressEqual, isHex, recoverTypedDataAddress } from 'viem';
import { AUTHORIZATION_TYPES } from './authorization-types.js';
import type { EvmAuthorization } from './payload.js';
import type { PaymentRequirements } from './wire.js';

/** 65 bytes that end in 27 or 28. */
const ECDSA_SIGNATURE = /^0x[0-9a-f]{64}(?<s>[0-9a-f]{64})1[bc]$/i;
const HALF_OF_THE_CURVE = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/**
 * Whether the payer's own key signed this for this token, in the form that token contracts accept: v of 27 or 28, low s.
 * True means that a facilitator's "invalid signature" is not the buyer's fault, unless the account delegates to a contract that
 * refuses its key's signatures (EIP-7702), which only the chain knows. False proves nothing: contract wallets sign in other ways.
 */
export async function recoversToPayer(
  authorization: EvmAuthorization,
  requirements: PaymentRequirements,
): Promise<boolean> {
  const { signature, from, to, value, validAfter, validBefore, nonce } = authorization;
  const s = ECDSA_SIGNATURE.exec(signature)?.groups?.s;
  if (s === undefined || BigInt(`0x${s}`) > HALF_OF_THE_CURVE) return false;
  if (!isHex(signature) || !isHex(requirements.asset) || !('name' in requirements.extra)) return false;
  const signer = recoverTypedDataAddress({
    domain: {
      name: requirements.extra.name,
      version: requirements.extra.version,
      chainId: Number(requirements.network.slice('eip155:'.length)),
      verifyingContract: requirements.asset,
    },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from, to, value, validAfter, validBefore, nonce },
    signature,
  });
  return await signer.then(
    (address) => isAddressEqual(address, from),
    // Recovery throws for numbers that are no valid signature.
    () => false,
  );
}
