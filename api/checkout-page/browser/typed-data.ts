import { AUTHORIZATION_TYPES } from '../../../shared/x402/authorization-types.js';
import type { EvmPayload, PaymentRequirements } from '../../../shared/x402/wire.js';

type Authorization = EvmPayload['authorization'];

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];

export function buildAuthorization(
  { payTo, amount, maxTimeoutSeconds }: PaymentRequirements,
  { from, nonce, nowSeconds }: { from: string; nonce: string; nowSeconds: number },
): Authorization {
  return {
    from,
    to: payTo,
    value: amount,
    validAfter: '0',
    validBefore: String(Math.floor(nowSeconds) + maxTimeoutSeconds),
    nonce,
  };
}

/** EIP-712 typed data for eth_signTypedData_v4. */
export function typedData({ network, asset, extra }: PaymentRequirements, message: Authorization): string {
  const domain = 'name' in extra ? { name: extra.name, version: extra.version } : {};
  return JSON.stringify({
    types: { EIP712Domain: DOMAIN_TYPE, ...AUTHORIZATION_TYPES },
    primaryType: 'TransferWithAuthorization',
    domain: { ...domain, chainId: Number(network.split(':')[1]), verifyingContract: asset },
    message,
  });
}

/** Some hardware wallets return a recovery id of 0 or 1 where tokens expect 27 or 28. */
export function normalizeSignature(signature: string): string {
  if (!/^0x[0-9a-f]{128}0[01]$/i.test(signature)) return signature;
  return `${signature.slice(0, -2)}${signature.endsWith('0') ? '1b' : '1c'}`;
}
