import type { Response } from 'express';
import { paymentLinkUrl } from '../../../shared/payables/payment-link-url.js';
import { findLinkImage } from '../../../shared/settlement/read-link.js';
import { isIdShaped } from '../../../shared/values/ids.js';
import { qrImage } from '../../checkout-page/qr-code.js';
import { walletAppUrl } from '../../checkout-page/wallet-apps.js';
import type { Deps } from '../../deps/deps.js';
import { sendBuyerError } from '../../errors/buyer-errors.js';
import { releaseWhenSent } from '../../http/release-when-sent.js';
import { addressKey } from '../../limits/address-key.js';
import type { Image } from '../../merchant-images/download-image.js';
import { askedByBuyer } from './buyer-language.js';

/** A transparent pixel, for an image that is not available: the page shows a gap, and the browser logs no error. */
const PLACEHOLDER: Image = {
  type: 'image/gif',
  bytes: Buffer.from('R0lGODlhAQABAIAAAAAAAAAAACH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64'),
};
const MAX_AGE_SECONDS = 3600;
const PLACEHOLDER_MAX_AGE_SECONDS = 60;
const BUSY_SECONDS = 5;

/**
 * `/c/{id}/images/{n}`: the session's images, numbered across all items, and `logo`; `qr`: the code that opens the page;
 * `qr-{app}`: the code that opens it in a wallet app.
 */
export async function sendImage(deps: Deps, res: Response, id: string, name: string): Promise<void> {
  const code = isIdShaped(id) ? qrCodeOf(deps, res, id, name) : undefined;
  if (code !== undefined) {
    send(res, code, MAX_AGE_SECONDS);
    return;
  }
  const number = numberOf(name);
  const found =
    isIdShaped(id) && number !== undefined ? await findLinkImage(deps.db, { id, number }) : undefined;
  if (found === undefined) {
    sendBuyerError(res, 'resource_missing', 'There is no such image at this link.');
    return;
  }
  const image = await deps.images.fetch(found);
  if (image === undefined) {
    send(res, PLACEHOLDER, PLACEHOLDER_MAX_AGE_SECONDS);
    return;
  }
  const release =
    image === 'busy' ? undefined : deps.images.takeToSend(image, found.accountId, addressKey(res.req));
  if (image === 'busy' || release === undefined) {
    sendBusy(res);
    return;
  }
  releaseWhenSent(res, release);
  send(res, image, MAX_AGE_SECONDS);
}

/** Browsers show the body of an error response, so it is the empty pixel too. */
function sendBusy(res: Response): void {
  res.locals.errorCode = 'images_busy';
  res.status(503);
  res.setHeader('Retry-After', String(BUSY_SECONDS));
  send(res, PLACEHOLDER, 0);
}

function send(res: Response, { type, bytes }: Image, maxAgeSeconds: number): void {
  res.setHeader('Content-Type', type);
  res.setHeader('Content-Length', bytes.length);
  if (maxAgeSeconds > 0) res.setHeader('Cache-Control', `private, max-age=${maxAgeSeconds}`);
  res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  res.setHeader('Content-Disposition', 'inline');
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
}

/** The code holds the link's address only, so Postgres is not asked whether the session exists. */
function qrCodeOf({ config }: Deps, res: Response, id: string, name: string): Image | undefined {
  const [isCode, app] = /^qr(?:-([a-z]+))?$/.exec(name) ?? [];
  if (isCode === undefined) return undefined;
  const link = paymentLinkUrl(id, config.baseUrl);
  const language = askedByBuyer(res);
  const page = language === undefined ? link : `${link}?lang=${language.tag}`;
  const url = app === undefined ? page : walletAppUrl(app, page);
  return url ? { type: 'image/svg+xml', bytes: Buffer.from(qrImage(url)) } : undefined;
}

function numberOf(name: string): number | null | undefined {
  if (name === 'logo') return null;
  return /^(0|[1-9]\d{0,3})$/.test(name) ? Number(name) : undefined;
}
