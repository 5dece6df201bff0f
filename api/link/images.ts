import type { Response } from 'express';
import { isIdShaped } from '../../shared/ids.js';
import { findLinkImage } from '../../shared/services/payments/read-link.js';
import type { Deps } from '../deps.js';
import { sendBuyerError } from '../errors/buyer-errors.js';

/** One transparent pixel: a merchant's image that is gone leaves its place empty, and no error in the buyer's console. */
const NOTHING = Buffer.from('R0lGODlhAQABAIAAAAAAAAAAACH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const KEPT_SECONDS = 3600;
const NOTHING_KEPT_SECONDS = 60;

/** `/c/{id}/images/{n}`: the session's images, counted over all its items, and `logo`. */
export async function sendImage(deps: Deps, res: Response, id: string, name: string): Promise<void> {
  const number = numberOf(name);
  const found =
    isIdShaped(id) && number !== undefined ? await findLinkImage(deps.db, { id, number }) : undefined;
  if (found === undefined) {
    sendBuyerError(res, 'resource_missing', 'There is no such image at this link.');
    return;
  }
  const image = await deps.images.fetch(found.url);
  const bytes = image?.bytes ?? NOTHING;
  res.setHeader('Content-Type', image?.type ?? 'image/gif');
  res.setHeader('Content-Length', bytes.length);
  const seconds = image === undefined ? NOTHING_KEPT_SECONDS : KEPT_SECONDS;
  res.setHeader('Cache-Control', `private, max-age=${seconds}`);
  res.setHeader('Content-Security-Policy', "default-src 'none'; sandbox");
  res.setHeader('Content-Disposition', 'inline');
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
}

function numberOf(name: string): number | null | undefined {
  if (name === 'logo') return null;
  return /^(0|[1-9]\d{0,3})$/.test(name) ? Number(name) : undefined;
}
