import type { SvmNetwork, SvmToken } from '../../../shared/chains/networks/networks.js';
import { associatedTokenAccount } from '../../../shared/chains/solana/associated-token-account.js';
import { TOKEN_PROGRAMS } from '../../../shared/chains/solana/solana-programs.js';
import { FUNDED_DOLLARS } from '../networks/wallets.js';
import type { Ledger } from './ledger.js';
import type { AccountRecord } from './records.js';
import { buildMint, buildTokenAccount, readMint, readTokenAccount } from './token-data.js';

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const FUNDED_LAMPORTS = 1_000_000_000_000;

/** Creates the network's mints at their real addresses. */
export function seedMints({ accounts }: Ledger, network: SvmNetwork): void {
  const missing = network.tokens.filter((token) => accounts.find(token.address) === undefined);
  const records = missing.map((token) => mintRecord(token, 0n, accounts.minimumBalance));
  if (records.length > 0) accounts.write(records);
}

/** Tops up SOL, for fees. */
export function fundLamports({ accounts }: Ledger, wallet: string): void {
  const held = accounts.find(wallet);
  if (held !== undefined && held.lamports >= FUNDED_LAMPORTS / 2) return;
  const empty = { address: wallet, owner: SYSTEM_PROGRAM, executable: false, data: '' };
  accounts.write([{ ...empty, ...held, lamports: FUNDED_LAMPORTS }]);
}

/** Tops up each token of a wallet that holds less than half of the usual amount. */
export function fundTokens(ledger: Ledger, network: SvmNetwork, wallet: string): void {
  for (const token of network.tokens) {
    const amount = FUNDED_DOLLARS * 10n ** BigInt(token.decimals);
    if (tokenBalance(ledger, wallet, token) < amount / 2n) mintTo(ledger, wallet, token, amount);
  }
}

/** A payment cannot create the account that it pays into: its owner must have opened it. */
export function openTokenAccount(ledger: Ledger, wallet: string, token: SvmToken): void {
  const account = associatedTokenAccount(wallet, token);
  if (ledger.accounts.find(account) === undefined) mintTo(ledger, wallet, token, 0n);
}

function tokenBalance({ accounts }: Ledger, wallet: string, token: SvmToken): bigint {
  const account = accounts.find(associatedTokenAccount(wallet, token));
  if (account === undefined) return 0n;
  return readTokenAccount(account.owner, Buffer.from(account.data, 'base64'))?.amount ?? 0n;
}

function mintTo(ledger: Ledger, wallet: string, token: SvmToken, amount: bigint): void {
  const { accounts } = ledger;
  const held = tokenBalance(ledger, wallet, token);
  const mint = accounts.find(token.address);
  const supply =
    mint === undefined ? 0n : (readMint(mint.owner, Buffer.from(mint.data, 'base64'))?.supply ?? 0n);
  const data = buildTokenAccount(
    { mint: token.address, owner: wallet, amount: held + amount },
    token.program,
  );
  accounts.write([
    mintRecord(token, supply + amount, accounts.minimumBalance),
    {
      address: associatedTokenAccount(wallet, token),
      owner: TOKEN_PROGRAMS[token.program].toBase58(),
      lamports: accounts.minimumBalance(data.length),
      executable: false,
      data: Buffer.from(data).toString('base64'),
    },
  ]);
}

function mintRecord(
  token: SvmToken,
  supply: bigint,
  minimumBalance: (bytes: number) => number,
): AccountRecord {
  const data = buildMint({ supply, decimals: token.decimals });
  return {
    address: token.address,
    owner: TOKEN_PROGRAMS[token.program].toBase58(),
    lamports: minimumBalance(data.length),
    executable: false,
    data: Buffer.from(data).toString('base64'),
  };
}
