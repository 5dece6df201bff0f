import type { Response } from 'express';
import { setDocumentHeaders } from '../http/safe-headers.js';

/** Reload interval of a waiting page without scripts. */
export const REFRESH_SECONDS = 5;

/**
 * The policy of the page: scripts, styles, images and requests of its own origin only. Wallet icons are data URLs.
 * Wallet extensions are not subject to it.
 */
export function setPageHeaders(res: Response, walletScript: string | undefined): void {
  const ownOrigins = walletScript === undefined ? "'self'" : `'self' ${new URL(walletScript).origin}`;
  const policy = [
    "default-src 'none'",
    `script-src ${ownOrigins}`,
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src ${ownOrigins}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  setDocumentHeaders(res);
  res.setHeader('Content-Security-Policy', policy.join('; '));
  res.setHeader('X-Frame-Options', 'DENY');
  res.setHeader('Permissions-Policy', 'camera=(), geolocation=(), microphone=(), payment=()');
  res.setHeader('Vary', 'Accept, Accept-Language, Accept-Encoding');
  res.setHeader('Content-Language', String(res.locals.language ?? 'en'));
}
