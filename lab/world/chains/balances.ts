import { Keypair } from '@solana/web3.js';
import { type Hex, numberToHex, pad } from 'viem';
import type { EvmNetwork, SvmNetwork } from '../../../shared/chains/networks/networks.js';

type Methods = Record<string, (params: readonly unknown[]) => unknown>;

const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const AMOUNT_AT = 64;
const TOKEN_ACCOUNT_BYTES = 165;

/** An EVM node that knows token balances only, of `<token> <wallet>` in lower case. */
export function evmBalances(
  { chainId }: Pick<EvmNetwork, 'chainId'>,
  balanceOf: (account: string) => bigint,
): Methods {
  return {
    eth_chainId: () => numberToHex(chainId),
    eth_call: ([call]) => {
      const { to, data } = call as { to: string; data: Hex };
      return pad(numberToHex(balanceOf(`${to} 0x${data.slice(-40)}`.toLowerCase())));
    },
  };
}

/** A Solana node that knows token accounts only; undefined is an account that does not exist. */
export function solanaBalances(
  { caip2 }: Pick<SvmNetwork, 'caip2'>,
  balanceOf: (account: string) => bigint | undefined,
): Methods {
  const context = { slot: 1 };
  const present = (amount: bigint): object => {
    const data = Buffer.alloc(TOKEN_ACCOUNT_BYTES);
    data.writeBigUInt64LE(amount, AMOUNT_AT);
    const encoded = [data.toString('base64'), 'base64'];
    return { lamports: 1, owner: TOKEN_PROGRAM, data: encoded, executable: false, rentEpoch: 0 };
  };
  return {
    getGenesisHash: () => caip2.slice('solana:'.length).padEnd(44, '1'),
    getLatestBlockhash: () => ({
      context,
      value: { blockhash: Keypair.generate().publicKey.toBase58(), lastValidBlockHeight: 150 },
    }),
    getMultipleAccounts: ([accounts]) => ({
      context,
      value: (accounts as string[]).map((account) => {
        const amount = balanceOf(account);
        return amount === undefined ? null : present(amount);
      }),
    }),
  };
}
