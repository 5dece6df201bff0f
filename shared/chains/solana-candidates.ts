import type { Finality } from '@solana/web3.js';
import { SIGNATURES_PER_PAGE, type SolanaRoot, type SolanaRpc } from './solana-rpc.js';
import { ChainUnreadable } from './unreadable.js';

const MAX_PAGES = 3;
const MAX_CANDIDATES = 40;

/**
 * The transactions among which a payment must be if it has landed. The buyer's own are few; the merchant's account
 * is in those of all buyers, and anybody can fill it with transfers, so it only narrows down a busy buyer's.
 */
export async function findCandidates(
  rpc: SolanaRpc,
  buyer: string | undefined,
  merchantAccount: string,
  since: Date,
  commitment: Finality,
  root: SolanaRoot,
): Promise<string[]> {
  const list = (address: string): Promise<string[]> => listSince(rpc, address, since, commitment, root);
  const candidates = await list(buyer ?? merchantAccount);
  if (candidates.length <= MAX_CANDIDATES) return candidates;
  const ofMerchant = new Set(buyer === undefined ? candidates : await list(merchantAccount));
  const ofBoth = candidates.filter((signature) => ofMerchant.has(signature));
  if (ofBoth.length > MAX_CANDIDATES) throw new ChainUnreadable('too many transactions to search');
  return ofBoth;
}

async function listSince(
  rpc: SolanaRpc,
  address: string,
  since: Date,
  commitment: Finality,
  root: SolanaRoot,
): Promise<string[]> {
  const signatures: string[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const entries = await rpc.findSignatures(address, commitment, root, signatures.at(-1));
    const inTime = entries.filter(({ blockTime }) => blockTime === undefined || blockTime >= since);
    signatures.push(...inTime.map(({ signature }) => signature));
    if (entries.length < SIGNATURES_PER_PAGE || inTime.length < entries.length) return signatures;
  }
  throw new ChainUnreadable('too many transactions to search');
}
