import type { Response } from 'express';
import { encodeHeaderText } from '../../../shared/x402/headers.js';
import { OFFER_RECEIPT, PAYMENT_REQUIRED_HEADER } from '../../../shared/x402/wire.js';
import type { Deps } from '../../deps/deps.js';
import type { LinkAnswer } from '../link-answer.js';
import { fitTerms } from './fit-accepts.js';

type Required = Extract<LinkAnswer, { kind: 'payment_required' }>;

/**
 * The status line and the headers that are set later: type, length, encoding, and Node's Date, Connection and Keep-Alive.
 */
const LATER_BYTES = 300;

/**
 * Sets PAYMENT-REQUIRED and returns the body, which is the same in JSON: with as many entries and signed offers as the
 * headers have room for. Every other header must be set before.
 */
export function setPaymentRequired(
  { config, receipts }: Pick<Deps, 'config' | 'receipts'>,
  res: Response,
  { required, validUntil }: Required,
): string {
  const { accepts, extensions, ...asked } = required;
  const before = `${JSON.stringify(asked).slice(0, -1)},"accepts":`;
  const after = `,"extensions":${textOf(extensions).slice(0, -1)}`;
  const room =
    jsonRoom(res, config.responseHeaderMaxBytes) - Buffer.byteLength(before) - after.length - '}}'.length;
  const { url: resourceUrl } = required.resource;
  const terms = fitTerms(accepts, room, (entry, maxLength) =>
    receipts.signOffer({ resourceUrl, entry, validUntil }, maxLength),
  );
  const offers = terms.offers === undefined ? '' : `,"${OFFER_RECEIPT}":${terms.offers}`;
  const body = `${before}${terms.accepts}${after}${offers}}}`;
  res.setHeader(PAYMENT_REQUIRED_HEADER, encodeHeaderText(body));
  return body;
}

/** Bytes of JSON that PAYMENT-REQUIRED can hold beside the other headers. */
function jsonRoom(res: Response, headerMaxBytes: number): number {
  let others = LATER_BYTES + headerLine(PAYMENT_REQUIRED_HEADER, '');
  for (const name of res.getHeaderNames()) others += headerLine(name, String(res.getHeader(name)));
  return Math.floor((headerMaxBytes - others) / 4) * 3;
}

function headerLine(name: string, value: string): number {
  return name.length + ': '.length + value.length + '\r\n'.length;
}

/** Cached texts: many answers share the same `extensions`, to which the offers are added. */
const texts = new WeakMap<object, string>();

function textOf(value: object): string {
  const text = texts.get(value) ?? JSON.stringify(value);
  texts.set(value, text);
  return text;
}
