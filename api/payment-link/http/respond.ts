import type { Response } from 'express';
import {
  presentPublicSession,
  renderPublicSession,
} from '../../../shared/checkout-sessions/present-public.js';
import { MAX_BODY_BYTES } from '../../../shared/limits/bounds.js';
import { now } from '../../../shared/process/clock.js';
import { isRefund } from '../../../shared/refunds/model.js';
import { presentPublicRefund } from '../../../shared/refunds/present.js';
import { type LinkedPayable, readPublicItems } from '../../../shared/settlement/read-link.js';
import { encodeHeader } from '../../../shared/x402/headers.js';
import {
  OFFER_RECEIPT,
  PAYMENT_RESPONSE_HEADER,
  type SettlementResponse,
  X_PAYMENT_RESPONSE_HEADER,
} from '../../../shared/x402/wire.js';
import type { Deps } from '../../deps/deps.js';
import { BUYER_ERRORS, sendBuyerError } from '../../errors/buyer-errors.js';
import { releaseWhenSent } from '../../http/release-when-sent.js';
import { sendJson } from '../../http/send-json.js';
import { addressKey } from '../../limits/address-key.js';
import type { LinkAnswer } from '../link-answer.js';
import { setPaymentRequired } from './set-payment-required.js';

type Answer<Kind extends LinkAnswer['kind']> = Extract<LinkAnswer, { kind: Kind }>;

type HeadDeps = Pick<Deps, 'config' | 'receipts'>;
type AnswerDeps = HeadDeps & Pick<Deps, 'db' | 'longAnswers'>;

const POLL_SECONDS = 2;
const NO_ITEMS = '[]';

/** The same for agents and pages. */
export function writeStatusAndHeaders(deps: HeadDeps, res: Response, answer: LinkAnswer): void {
  switch (answer.kind) {
    case 'paid':
      res.status(200);
      setReceipt(res, answer.receipt);
      return;
    case 'processing':
      res.status(answer.status);
      res.setHeader('Retry-After', String(POLL_SECONDS));
      return;
    case 'payment_required':
      writePaymentRequired(deps, res, answer);
      return;
    case 'error':
      res.status(BUYER_ERRORS[answer.error.code]);
      res.locals.errorCode = answer.error.code;
      if (answer.retryAfterSeconds !== undefined)
        res.setHeader('Retry-After', String(answer.retryAfterSeconds));
      if (answer.receipt !== undefined) setReceipt(res, answer.receipt);
      return;
  }
}

/** Returns the body. */
function writePaymentRequired(deps: HeadDeps, res: Response, answer: Answer<'payment_required'>): string {
  res.status(402);
  res.locals.errorCode = answer.required.code;
  if (answer.failed !== undefined) setReceipt(res, answer.failed);
  return setPaymentRequired(deps, res, answer);
}

/**
 * Sets the receipt, for older agents also under the name of x402 version 1. That copy has no extensions: headers have little
 * room.
 */
function setReceipt(res: Response, receipt: SettlementResponse): void {
  const { extensions, ...bare } = receipt;
  const value = encodeHeader(bare);
  res.setHeader(PAYMENT_RESPONSE_HEADER, extensions === undefined ? value : encodeHeader(receipt));
  res.setHeader(X_PAYMENT_RESPONSE_HEADER, value);
}

/** A request with a payment is always answered with its receipt, even when the line items are too large to send now. */
export async function sendAgentAnswer(
  deps: AnswerDeps,
  res: Response,
  answer: LinkAnswer,
  { link, carriedPayment }: { link: string; carriedPayment: boolean },
): Promise<void> {
  if (answer.kind === 'payment_required') {
    sendJson(res, writePaymentRequired(deps, res, answer));
    return;
  }
  let body: string;
  if (answer.kind !== 'paid') body = bodyOf(answer, link);
  else {
    const items = (await itemsOf(deps, res, answer.session)) ?? (carriedPayment ? NO_ITEMS : undefined);
    if (items === undefined) {
      sendBusy(res);
      return;
    }
    body = renderPaid(answer, items, deps.config.baseUrl);
  }
  writeStatusAndHeaders(deps, res, answer);
  sendJson(res, body);
}

function renderPaid({ session, receipt }: Answer<'paid'>, items: string, baseUrl: string): string {
  const presented = isRefund(session)
    ? `"refund":${JSON.stringify(presentPublicRefund(session, session.account, baseUrl))}`
    : `"session":${renderPublicSession(presentPublicSession(session, session.account, now()), items)}`;
  const signed = receipt.extensions?.[OFFER_RECEIPT].info.receipt;
  return `{"status":"complete",${presented}${signed === undefined ? '' : `,"receipt":${JSON.stringify(signed)}`}}`;
}

/**
 * The public line items as JSON text; empty when the read did not load them. Undefined when too much is being sent
 * already.
 */
async function itemsOf(
  { db, longAnswers }: AnswerDeps,
  res: Response,
  { id, publicItems = NO_ITEMS }: LinkedPayable,
): Promise<string | undefined> {
  if (publicItems !== null) return publicItems;
  // Their length is known only once they are read, so the longest is taken.
  const release = longAnswers.take(MAX_BODY_BYTES, addressKey(res.req));
  if (release === undefined) return undefined;
  releaseWhenSent(res, release);
  return await readPublicItems(db, id);
}

function sendBusy(res: Response): void {
  res.setHeader('Retry-After', '1');
  sendBuyerError(
    res,
    'rate_limit',
    'Too much data is being sent to this address, or in total. Try again in a second.',
  );
}

function bodyOf(answer: Answer<'processing' | 'error'>, link: string): string {
  switch (answer.kind) {
    case 'processing':
      return JSON.stringify({
        status: 'processing',
        message:
          'A payment of this link is being confirmed by the network. Send GET to this url without a payment header, every few seconds, until it answers 200.',
        url: link,
      });
    case 'error':
      return JSON.stringify({ error: answer.error });
  }
}
