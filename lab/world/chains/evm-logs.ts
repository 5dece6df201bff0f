import { type Hex, numberToHex, pad, toEventSelector } from 'viem';

/** The parameters of an EIP-3009 transfer. */
export interface FakeTransfer {
  asset: string;
  from: string;
  payTo: string;
  amount: bigint;
  nonce: string;
}

export type FakeAuthorization = Pick<FakeTransfer, 'asset' | 'from' | 'nonce'>;

export interface FakeLog {
  address: string;
  topics: Hex[];
  data: Hex;
}

const USED = toEventSelector('AuthorizationUsed(address,bytes32)');
const CANCELED = toEventSelector('AuthorizationCanceled(address,bytes32)');
const TRANSFER = toEventSelector('Transfer(address,address,uint256)');

export function usedLog({ asset, from, nonce }: FakeAuthorization): FakeLog {
  return { address: asset, topics: [USED, pad(hex(from)), hex(nonce)], data: '0x' };
}

export function canceledLog({ asset, from, nonce }: FakeAuthorization): FakeLog {
  return { address: asset, topics: [CANCELED, pad(hex(from)), hex(nonce)], data: '0x' };
}

export function transferLog({ asset, from, payTo, amount }: Omit<FakeTransfer, 'nonce'>): FakeLog {
  const data = numberToHex(amount, { size: 32 });
  return { address: asset, topics: [TRANSFER, pad(hex(from)), pad(hex(payTo))], data };
}

/** True when the log uses or cancels the nonce. */
export function usesUp({ topics: [event, owner, used] }: FakeLog, from: string, nonce: string): boolean {
  return (event === USED || event === CANCELED) && isSame(owner, pad(hex(from))) && isSame(used, nonce);
}

/** The nonce that a log uses or cancels. */
export function usedNonce({ topics: [event, , nonce] }: FakeLog): string | undefined {
  return (event === USED || event === CANCELED) && nonce !== undefined ? nonce.toLowerCase() : undefined;
}

/** True when a log filter accepts only events whose third topic is a nonce. */
export function usesNonces(events: string | string[] | null | undefined): boolean {
  const accepted = [events ?? []].flat();
  return accepted.length > 0 && accepted.every((event) => event === USED || event === CANCELED);
}

export function amountTo({ topics, data }: FakeLog, wallet: string): bigint {
  return topics[0] === TRANSFER && isSame(topics[2], pad(hex(wallet))) ? BigInt(data) : 0n;
}

export function isSame(text: string | undefined, other: string): boolean {
  return text?.toLowerCase() === other.toLowerCase();
}

export function hex(text: string): Hex {
  return `0x${text.replace(/^0x/, '').toLowerCase()}`;
}
