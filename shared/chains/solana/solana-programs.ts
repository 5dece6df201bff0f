import { PublicKey } from '@solana/web3.js';
import type { SvmToken } from '../networks/networks.js';

/** The programs of Solana that payments name, and the numbers of their instructions. */
export const TOKEN_PROGRAMS: Record<SvmToken['program'], PublicKey> = {
  'spl-token': new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'),
  'token-2022': new PublicKey('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'),
};
export const ASSOCIATED_TOKEN_PROGRAM = new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
export const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr';
/** The present memo program and its first version. */
export const MEMO_PROGRAMS: readonly string[] = [MEMO_PROGRAM, 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'];

/** The instruction of both token programs that moves tokens. */
export const TRANSFER_CHECKED = 12;
/** The instruction of the system program that a durable nonce begins with. */
export const ADVANCE_NONCE_ACCOUNT = 4;
