import { findToken } from '../../shared/chains/networks.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';
import { linkQuery } from '../input/link-query.js';

type Entries = readonly PaymentRequirements[];

const MAX_ENTRIES = 20;

/** What a request wants of `accepts`; undefined: everything. */
export interface Wanted {
  networks: readonly string[];
  tokens: readonly string[];
}

/** The parameters `network` (CAIP-2) and `token` (symbol or address) of a link's URL. */
export function readWanted(url: string): Wanted | undefined {
  if (!url.includes('?')) return undefined;
  const query = linkQuery(url);
  const wanted = { networks: query.getAll('network'), tokens: query.getAll('token') };
  return wanted.networks.length + wanted.tokens.length === 0 ? undefined : wanted;
}

export function narrow(entries: Entries, { networks, tokens }: Wanted): Entries {
  const names = new Set(tokens.map((token) => token.toUpperCase()));
  return entries.filter(
    (entry) =>
      (networks.length === 0 || networks.includes(entry.network)) &&
      (names.size === 0 || names.has(symbolOf(entry)) || names.has(entry.asset.toUpperCase())),
  );
}

interface Rendered {
  json: string;
  bytes: number;
  symbol: string;
}

/** Many links share an entry. */
const rendered = new WeakMap<PaymentRequirements, Rendered>();

/**
 * `accepts` as JSON, with the entries that `room` bytes hold, in their order: first one of each token, then the others. One
 * entry stays however small the room is, since nobody could pay without.
 */
export function renderAccepts(entries: Entries, room: number): string {
  const all = entries.map((entry) => rendered.get(entry) ?? render(entry));
  const firsts = all.filter(({ symbol }, index) => index === 0 || symbol !== all[index - 1]?.symbol);
  const chosen = new Set<Rendered>();
  let left = room - '[]'.length;
  for (const entry of [...firsts, ...all]) {
    const isFitting = chosen.size === 0 || entry.bytes <= left;
    if (!isFitting || chosen.size === MAX_ENTRIES || chosen.has(entry)) continue;
    chosen.add(entry);
    left -= entry.bytes + ','.length;
  }
  const kept = all.filter((entry) => chosen.has(entry));
  return `[${kept.map(({ json }) => json).join()}]`;
}

function render(entry: PaymentRequirements): Rendered {
  const json = JSON.stringify(entry);
  const known = { json, bytes: Buffer.byteLength(json), symbol: symbolOf(entry) };
  rendered.set(entry, known);
  return known;
}

function symbolOf({ network, asset }: PaymentRequirements): string {
  return findToken(network, asset)?.symbol ?? asset;
}
