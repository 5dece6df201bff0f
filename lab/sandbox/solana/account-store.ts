import { address, lamports } from '@solana/kit';
import type { LiteSVM } from 'litesvm';
import type { Journal } from './journal.js';
import type { AccountRecord, TokenBalance } from './records.js';
import { describeAmount, readMint, readTokenAccount } from './token-data.js';

/** The cluster's accounts. Each write is in the journal before a reader sees it. */
export interface AccountStore {
  find(address: string): AccountRecord | undefined;
  list(program: string): AccountRecord[];
  write(records: AccountRecord[]): void;
  /** Writes accounts that the journal already has. */
  restore(records: readonly AccountRecord[]): void;
  /** The accounts that a transaction may have changed. Programs are left out: they never change. */
  records(addresses: readonly string[]): AccountRecord[];
  balances(addresses: readonly string[]): Balances;
  decimalsOf(mint: string): number;
  minimumBalance(bytes: number): number;
}

export interface Balances {
  lamports: number[];
  tokens: TokenBalance[];
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111';

export function createAccountStore(svm: LiteSVM, journal: Journal): AccountStore {
  const store: AccountStore = {
    find(wanted) {
      const account = svm.getAccount(address(wanted));
      if (!account.exists) return undefined;
      return {
        address: wanted,
        owner: account.programAddress,
        lamports: Number(account.lamports),
        executable: account.executable,
        data: Buffer.from(account.data).toString('base64'),
      };
    },
    list: (program) =>
      svm.getProgramAccounts(address(program)).flatMap((account) => store.find(account.address) ?? []),
    write(records) {
      store.restore(records);
      journal.append({ accounts: records });
    },
    restore(records) {
      for (const record of records) {
        const data = Buffer.from(record.data, 'base64');
        svm.setAccount({
          address: address(record.address),
          programAddress: address(record.owner),
          lamports: lamports(BigInt(record.lamports)),
          executable: record.executable,
          data: new Uint8Array(data),
          space: BigInt(data.length),
        });
      }
    },
    records(addresses) {
      const found = addresses.map((wanted) => store.find(wanted) ?? emptyAccount(wanted));
      return found.filter(({ executable }) => !executable);
    },
    balances(addresses) {
      const found = addresses.map((wanted) => store.find(wanted));
      const tokens = found.flatMap((account, accountIndex) => {
        const held = account && readTokenAccount(account.owner, Buffer.from(account.data, 'base64'));
        if (account === undefined || held === undefined) return [];
        const { mint, owner, amount } = held;
        const uiTokenAmount = describeAmount(amount, store.decimalsOf(mint));
        return [{ accountIndex, mint, owner, programId: account.owner, uiTokenAmount }];
      });
      return { lamports: found.map((account) => account?.lamports ?? 0), tokens };
    },
    decimalsOf(mint) {
      const account = store.find(mint);
      const read = account && readMint(account.owner, Buffer.from(account.data, 'base64'));
      return read?.decimals ?? 0;
    },
    minimumBalance: (bytes) => Number(svm.minimumBalanceForRentExemption(BigInt(bytes))),
  };
  return store;
}

function emptyAccount(wanted: string): AccountRecord {
  return { address: wanted, owner: SYSTEM_PROGRAM, lamports: 0, executable: false, data: '' };
}
