import type { PaymentRequirements } from '../../../shared/x402/wire.js';

/** An EIP-3009 authorization, in the decimal strings of x402. */
export interface Authorization {
  from: string;
  to: string;
  value: string;
  /** Unix seconds. */
  validAfter: string;
  validBefore: string;
  nonce: string;
}

const DOMAIN_TYPE = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
];
const AUTHORIZATION_TYPE = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
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
    types: { EIP712Domain: DOMAIN_TYPE, TransferWithAuthorization: AUTHORIZATION_TYPE },
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
