import { PublicKey } from '@solana/web3.js';
import { lruCache } from '../../limits/lru-cache.js';
import type { SvmToken } from '../networks/networks.js';
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAMS } from './solana-programs.js';

/** Caches derivations: each costs 0.8 ms of the event loop, and the same merchants' wallets recur. */
const derived = lruCache<string>(1000);

/** Derives the account in which a wallet holds a token. A payment to the wallet must go to this account. */
export function associatedTokenAccount(wallet: string, token: Pick<SvmToken, 'address' | 'program'>): string {
  const key = `${wallet}:${token.address}:${token.program}`;
  const known = derived.get(key);
  if (known !== undefined) return known;
  const seeds = [new PublicKey(wallet), TOKEN_PROGRAMS[token.program], new PublicKey(token.address)];
  const [address] = PublicKey.findProgramAddressSync(
    seeds.map((seed) => seed.toBytes()),
    ASSOCIATED_TOKEN_PROGRAM,
  );
  const account = address.toBase58();
  derived.set(key, account);
  return account;
}
