import type { LRUCache } from 'lru-cache';
import { findToken, OFFERED_TOKENS, type OfferedToken } from '../chains/networks/networks.js';
import { SOLANA_ADDRESS } from '../chains/networks/text-forms.js';
import { lruCache } from '../limits/lru-cache.js';
import { isJsonObject } from '../values/json-object.js';
import { centsToTokenAmount } from '../values/money.js';
import type { PaymentRequirements } from './wire.js';

/** The networks that the facilitator settles on: CAIP-2 → its fee payers there (none on EVM). */
export type SupportedKinds = ReadonlyMap<string, readonly string[]>;

export interface OfferInput {
  livemode: boolean;
  wallets: { evm: string | null; solana: string | null };
  amountCents: number;
  supported: SupportedKinds;
  /** Fee payers in earlier offers of this payable; one is kept while the facilitator still lists it. */
  offeredFeePayers?: readonly string[];
  /** Limits the offer to this token. */
  only?: { network: string; asset: string } | undefined;
}

/** Solana's token programs count in u64, which the largest total of a session exceeds. */
const MOST_ON_SOLANA = 2n ** 64n - 1n;

/** How long a buyer's signature may be valid. */
const MAX_TIMEOUT_SECONDS = 300;

/** Caches entries for sessions of equal merchant and amount, until the supported kinds are read again. */
const built = new WeakMap<SupportedKinds, LRUCache<string, readonly PaymentRequirements[]>>();
const MAX_BUILT = 500;

/**
 * The token table ∩ the facilitator's kinds ∩ the merchant's wallets ∩ tokens that can hold the amount, in the table's
 * order.
 */
export function buildAccepts(input: OfferInput): readonly PaymentRequirements[] {
  const { livemode, wallets, amountCents, supported, offeredFeePayers = [], only } = input;
  const known = built.get(supported) ?? lruCache(MAX_BUILT);
  built.set(supported, known);
  const key = [
    livemode,
    wallets.evm,
    wallets.solana,
    amountCents,
    only?.network,
    only?.asset,
    ...offeredFeePayers,
  ].join();
  const accepts = known.get(key) ?? buildEntries(input);
  known.set(key, accepts);
  return accepts;
}

function buildEntries(input: OfferInput): readonly PaymentRequirements[] {
  const tokens = input.only === undefined ? OFFERED_TOKENS : findOnly(input.only);
  return tokens
    .filter((token) => token.network.testnet !== input.livemode)
    .flatMap((token) => buildEntry(token, input));
}

/** Asks Solana clients for this memo. The entries are shared between links, so they are copied. */
export function askForMemo(
  entries: readonly PaymentRequirements[],
  memo: () => string,
): readonly PaymentRequirements[] {
  if (!entries.some(({ extra }) => 'feePayer' in extra)) return entries;
  const asked = memo();
  return entries.map((entry) =>
    'feePayer' in entry.extra ? { ...entry, extra: { ...entry.extra, memo: asked } } : entry,
  );
}

function findOnly({ network, asset }: { network: string; asset: string }): OfferedToken[] {
  const token = findToken(network, asset);
  return token === undefined ? [] : [token];
}

function buildEntry(token: OfferedToken, input: OfferInput): PaymentRequirements[] {
  const feePayers = input.supported.get(token.network.caip2);
  const payTo = token.family === 'evm' ? input.wallets.evm : input.wallets.solana;
  if (feePayers === undefined || payTo === null) return [];
  const amount = centsToTokenAmount(input.amountCents, token.decimals);
  if (token.family === 'svm' && amount > MOST_ON_SOLANA) return [];
  const extra =
    token.family === 'evm' ? { ...token.domain } : chooseFeePayer(feePayers, input.offeredFeePayers);
  if (extra === undefined) return [];
  return [
    {
      scheme: 'exact',
      network: token.network.caip2,
      amount: amount.toString(),
      asset: token.address,
      payTo,
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
      extra,
    },
  ];
}

/** The buyer signs for one fee payer, so it must not change between the offer and the payment. */
function chooseFeePayer(
  listed: readonly string[],
  offered: readonly string[] = [],
): { feePayer: string } | undefined {
  const feePayer = listed.find((address) => offered.includes(address)) ?? listed[0];
  return feePayer === undefined ? undefined : { feePayer };
}

/** Undefined when the JSON is not an answer of `/supported`. Kinds of other schemes or versions are left out. */
export function parseSupported(json: unknown): SupportedKinds | undefined {
  if (!isJsonObject(json) || !Array.isArray(json.kinds)) return undefined;
  const supported = new Map<string, Set<string>>();
  for (const kind of json.kinds.filter(isJsonObject)) {
    if (kind.x402Version !== 2 || kind.scheme !== 'exact' || typeof kind.network !== 'string') continue;
    const feePayers = supported.get(kind.network) ?? new Set<string>();
    supported.set(kind.network, feePayers);
    if (isJsonObject(kind.extra)) addAddress(feePayers, kind.extra.feePayer);
  }
  const signers = isJsonObject(json.signers) ? json.signers : {};
  for (const [network, feePayers] of supported) {
    if (!network.startsWith('solana:')) continue;
    for (const address of [signers[network], signers['solana:*']].flat()) addAddress(feePayers, address);
  }
  return new Map([...supported].map(([network, feePayers]) => [network, [...feePayers]]));
}

function addAddress(feePayers: Set<string>, address: unknown): void {
  if (typeof address === 'string' && SOLANA_ADDRESS.test(address)) feePayers.add(address);
}
