import { TOKEN_PROGRAMS } from '../../../shared/chains/solana/solana-programs.js';
import { INVALID_PARAMS, RpcError } from '../../world/chains/rpc-error.js';
import type { AccountStore } from './account-store.js';
import { describeAccount } from './describe-account.js';
import type { MethodTable, RpcContext } from './rpc-context.js';
import { type RpcOptions, readOptions, readText, readTexts } from './rpc-params.js';
import { describeAmount, readMint, readTokenAccount } from './token-data.js';

export function createAccountMethods(accounts: AccountStore, context: RpcContext): MethodTable {
  function tokenAmount(
    address: string,
    read: (owner: string, data: Buffer) => [bigint, number] | undefined,
  ): object {
    const account = accounts.find(address);
    const amount = account && read(account.owner, Buffer.from(account.data, 'base64'));
    if (amount === undefined) throw new RpcError(INVALID_PARAMS, 'Invalid param: could not find account');
    return describeAmount(...amount);
  }

  function tokenAccountBalance(owner: string, data: Buffer): [bigint, number] | undefined {
    const held = readTokenAccount(owner, data);
    return held && [held.amount, accounts.decimalsOf(held.mint)];
  }

  function tokenSupply(owner: string, data: Buffer): [bigint, number] | undefined {
    const mint = readMint(owner, data);
    return mint && [mint.supply, mint.decimals];
  }

  function listTokenAccounts(owner: string, filter: RpcOptions, options: RpcOptions): object[] {
    const programs = Object.values(TOKEN_PROGRAMS).map((program) => program.toBase58());
    const wanted = filter.programId === undefined ? programs : [filter.programId];
    return wanted
      .flatMap((program) => accounts.list(program))
      .flatMap((account) => {
        const held = readTokenAccount(account.owner, Buffer.from(account.data, 'base64'));
        if (held?.owner !== owner || (filter.mint !== undefined && filter.mint !== held.mint)) return [];
        return [{ pubkey: account.address, account: describeAccount(account, options, accounts) }];
      });
  }

  return {
    getMinimumBalanceForRentExemption: ([bytes]) => accounts.minimumBalance(Number(bytes)),
    getBalance: ([address, given]) =>
      context.wrap(readOptions(given), accounts.find(readText(address))?.lamports ?? 0),
    getAccountInfo([address, given]) {
      const options = readOptions(given);
      return context.wrap(options, describeAccount(accounts.find(readText(address)), options, accounts));
    },
    getMultipleAccounts([addresses, given]) {
      const options = readOptions(given);
      const found = readTexts(addresses).map((one) => describeAccount(accounts.find(one), options, accounts));
      return context.wrap(options, found);
    },
    getTokenAccountBalance: ([address, given]) =>
      context.wrap(readOptions(given), tokenAmount(readText(address), tokenAccountBalance)),
    getTokenSupply: ([address, given]) =>
      context.wrap(readOptions(given), tokenAmount(readText(address), tokenSupply)),
    getTokenAccountsByOwner([owner, filter, given]) {
      const options = readOptions(given);
      return context.wrap(options, listTokenAccounts(readText(owner), readOptions(filter), options));
    },
  };
}
