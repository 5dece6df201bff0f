import { toBase58 } from '../../world/chains/base58.js';
import { INVALID_PARAMS, RpcError } from '../../world/chains/rpc-error.js';
import type { AccountStore } from './account-store.js';
import type { AccountRecord } from './records.js';
import type { RpcOptions } from './rpc-params.js';
import { describeAmount, readMint, readTokenAccount } from './token-data.js';

/** An account in an RPC node's format; null when it does not exist. */
export function describeAccount(
  record: AccountRecord | undefined,
  { encoding = 'base64', dataSlice }: Pick<RpcOptions, 'encoding' | 'dataSlice'>,
  accounts: AccountStore,
): object | null {
  if (record === undefined) return null;
  const whole = Buffer.from(record.data, 'base64');
  const { owner, lamports, executable } = record;
  const head = { owner, lamports, executable, rentEpoch: 0, space: whole.length };
  const parsed = encoding === 'jsonParsed' ? parse(record, whole, accounts) : undefined;
  if (parsed !== undefined) return { ...head, data: parsed };
  const data = dataSlice ? whole.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : whole;
  if (encoding === 'base58') return { ...head, data: [toBase58(data), encoding] };
  if (encoding !== 'base64' && encoding !== 'jsonParsed') {
    throw new RpcError(INVALID_PARAMS, `unknown encoding ${encoding}`);
  }
  return { ...head, data: [data.toString('base64'), 'base64'] };
}

function parse({ owner }: AccountRecord, data: Buffer, accounts: AccountStore): object | undefined {
  const mint = readMint(owner, data);
  if (mint !== undefined) {
    const info = { decimals: mint.decimals, supply: `${mint.supply}`, isInitialized: true };
    const authorities = { mintAuthority: null, freezeAuthority: null };
    return {
      program: 'spl-token',
      parsed: { type: 'mint', info: { ...info, ...authorities } },
      space: data.length,
    };
  }
  const held = readTokenAccount(owner, data);
  if (held === undefined) return undefined;
  const tokenAmount = describeAmount(held.amount, accounts.decimalsOf(held.mint));
  const info = { isNative: false, mint: held.mint, owner: held.owner, state: 'initialized', tokenAmount };
  return { program: 'spl-token', parsed: { type: 'account', info }, space: data.length };
}
