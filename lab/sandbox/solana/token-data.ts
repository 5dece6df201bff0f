import { PublicKey } from '@solana/web3.js';
import { formatUnits } from 'viem';
import type { SvmToken } from '../../../shared/chains/networks/networks.js';
import { TOKEN_PROGRAMS } from '../../../shared/chains/solana/solana-programs.js';

/** The token programs' binary layout of a mint and a token account. */
const MINT_BYTES = 82;
const ACCOUNT_BYTES = 165;
const INITIALIZED = 1;
/** The extension that the associated token program adds to a Token-2022 account: account type 2, immutable owner. */
const IMMUTABLE_OWNER = Buffer.from([2, 7, 0, 0, 0]);

interface TokenAccountData {
  mint: string;
  owner: string;
  amount: bigint;
}

interface MintData {
  supply: bigint;
  decimals: number;
}

const PROGRAMS = new Set(Object.values(TOKEN_PROGRAMS).map((program) => program.toBase58()));

export function isTokenProgram(address: string): boolean {
  return PROGRAMS.has(address);
}

/** Undefined when the account is not a token account. */
export function readTokenAccount(program: string, data: Uint8Array): TokenAccountData | undefined {
  if (!isTokenProgram(program) || data.length < ACCOUNT_BYTES) return undefined;
  const bytes = Buffer.from(data);
  return {
    mint: new PublicKey(bytes.subarray(0, 32)).toBase58(),
    owner: new PublicKey(bytes.subarray(32, 64)).toBase58(),
    amount: bytes.readBigUInt64LE(64),
  };
}

export function readMint(program: string, data: Uint8Array): MintData | undefined {
  if (!isTokenProgram(program) || data.length !== MINT_BYTES) return undefined;
  return { supply: Buffer.from(data).readBigUInt64LE(36), decimals: data[44] ?? 0 };
}

/** The mint has no authority: the sandbox writes balances directly. */
export function buildMint({ supply, decimals }: MintData): Uint8Array {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeBigUInt64LE(supply, 36);
  data[44] = decimals;
  data[45] = INITIALIZED;
  return data;
}

export function buildTokenAccount(
  { mint, owner, amount }: TokenAccountData,
  program: SvmToken['program'],
): Uint8Array {
  const data = Buffer.alloc(ACCOUNT_BYTES);
  data.set(new PublicKey(mint).toBytes(), 0);
  data.set(new PublicKey(owner).toBytes(), 32);
  data.writeBigUInt64LE(amount, 64);
  data[108] = INITIALIZED;
  return program === 'token-2022' ? Buffer.concat([data, IMMUTABLE_OWNER]) : data;
}

/** An amount in an RPC node's format. */
export function describeAmount(amount: bigint, decimals: number): object {
  const text = formatUnits(amount, decimals);
  return { amount: `${amount}`, decimals, uiAmount: Number(text), uiAmountString: text };
}
