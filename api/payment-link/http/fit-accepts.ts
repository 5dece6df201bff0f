import { findToken } from '../../../shared/chains/networks/networks.js';
import { OFFER_RECEIPT, type PaymentRequirements, type SignedStatement } from '../../../shared/x402/wire.js';
import { linkQuery } from '../../input/link-query.js';

type Entries = readonly PaymentRequirements[];

const MAX_ENTRIES = 20;

/** Networks and tokens of the entries that a request asks for; an empty list leaves all. */
export interface AcceptsFilter {
  networks: readonly string[];
  tokens: readonly string[];
}

/** The parameters `network` (CAIP-2) and `token` (symbol or address) of a link's URL. */
export function readAcceptsFilter(url: string): AcceptsFilter | undefined {
  if (!url.includes('?')) return undefined;
  const query = linkQuery(url);
  const valuesOf = (name: string): string[] => query.getAll(name).filter((value) => value !== '');
  const filter = { networks: valuesOf('network'), tokens: valuesOf('token') };
  return filter.networks.length + filter.tokens.length === 0 ? undefined : filter;
}

export function filterAccepts(entries: Entries, { networks, tokens }: AcceptsFilter): Entries {
  const names = new Set(tokens.map((token) => token.toUpperCase()));
  return entries.filter(
    (entry) =>
      (networks.length === 0 || networks.includes(entry.network)) &&
      (names.size === 0 || names.has(symbolOf(entry)) || names.has(entry.asset.toUpperCase())),
  );
}

/** Signs the offer of an entry, unless the signature would be longer. */
type SignOffer = (entry: PaymentRequirements, maxLength: number) => SignedStatement | undefined;

/** The terms of a payment, each as JSON. */
interface Terms {
  accepts: string;
  /** The extension `offer-receipt`; undefined without a signed offer. */
  offers: string | undefined;
}

/** Each is signed when a link is first asked for, and takes the room of three entries. */
const MAX_OFFERS = 4;
const OFFERS_BEFORE = '{"info":{"offers":[';
const OFFERS_AFTER =
  ']},"schema":{"type":"object","properties":{"offers":{"type":"array"}},"required":["offers"]}}';

/** The length of the text around the offers, which includes the extension's name. */
const AROUND_OFFERS = `,"${OFFER_RECEIPT}":${OFFERS_BEFORE}${OFFERS_AFTER}`.length;

const AROUND_OFFER = renderOffer(MAX_ENTRIES, '').length;

/** thirdweb's client needs `primaryType`: it otherwise looks the token contract up at thirdweb's servers, or refuses to pay. */
const PRIMARY_TYPE = { primaryType: 'TransferWithAuthorization' } as const;

interface Rendered {
  entry: PaymentRequirements;
  json: string;
  bytes: number;
  /** The offer's text with `primaryType`; undefined on Solana. */
  typed: { json: string; moreBytes: number } | undefined;
  symbol: string;
  /** The part of the network's name before the colon: `eip155` or `solana`. */
  family: string;
}

/** Many links share an entry. */
const rendered = new WeakMap<PaymentRequirements, Rendered>();

/**
 * The entries that `room` bytes hold: first an entry of each token and each family of networks. Entries stay in their order.
 * At least one entry stays however small the room is, since a buyer could not pay without. `primaryType` has a place in the
 * first EVM entry, in others where room is left, and signed offers come last.
 */
export function fitTerms(entries: Entries, room: number, sign: SignOffer = () => undefined): Terms {
  const all = entries.map((entry) => rendered.get(entry) ?? render(entry));
  const kept = new Set<Rendered>();
  const typedFirst = all.find(({ typed }) => typed !== undefined)?.typed?.moreBytes ?? 0;
  let left = room - '[]'.length - typedFirst;

  const keep = (some: readonly Rendered[]): void => {
    for (const entry of some) {
      const isFitting = kept.size === 0 || entry.bytes <= left;
      if (!isFitting || kept.size === MAX_ENTRIES || kept.has(entry)) continue;
      kept.add(entry);
      left -= entry.bytes + ','.length;
    }
  };
  keep(firstOfEach(all, ({ symbol }) => symbol));
  keep(firstOfEach(all, ({ family }) => family));
  keep(all);
  const shown = all.filter((one) => kept.has(one));
  // The last entry has no comma.
  left += typedFirst + ','.length;
  const accepts = shown.map(({ json, typed }) => {
    if (typed === undefined || typed.moreBytes > left) return json;
    left -= typed.moreBytes;
    return typed.json;
  });
  const offers: string[] = [];
  for (const [index, { entry }] of shown.slice(0, MAX_OFFERS).entries()) {
    const around = AROUND_OFFER + (offers.length === 0 ? AROUND_OFFERS : ','.length);
    const statement = sign(entry, left - around);
    if (statement === undefined) continue;
    offers.push(renderOffer(index, statement.signature));
    left -= around + statement.signature.length;
  }
  return {
    accepts: `[${accepts.join()}]`,
    offers: offers.length === 0 ? undefined : `${OFFERS_BEFORE}${offers.join()}${OFFERS_AFTER}`,
  };
}

function renderOffer(acceptIndex: number, signature: string): string {
  return `{"format":"jws","acceptIndex":${acceptIndex},"signature":"${signature}"}`;
}

function firstOfEach(all: readonly Rendered[], groupOf: (one: Rendered) => string): Rendered[] {
  const seen = new Set<string>();
  return all.filter((one) => seen.size < seen.add(groupOf(one)).size);
}

function render(entry: PaymentRequirements): Rendered {
  const json = JSON.stringify(entry);
  const bytes = Buffer.byteLength(json);
  const known = {
    entry,
    json,
    bytes,
    typed:
      'name' in entry.extra
        ? renderTyped({ ...entry, extra: { ...entry.extra, ...PRIMARY_TYPE } }, bytes)
        : undefined,
    symbol: symbolOf(entry),
    family: entry.network.slice(0, entry.network.indexOf(':')),
  };
  rendered.set(entry, known);
  return known;
}

function renderTyped(entry: PaymentRequirements, bytesWithout: number): Rendered['typed'] {
  const json = JSON.stringify(entry);
  return { json, moreBytes: Buffer.byteLength(json) - bytesWithout };
}

function symbolOf({ network, asset }: PaymentRequirements): string {
  return findToken(network, asset)?.symbol ?? asset;
}
