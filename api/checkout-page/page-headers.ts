import type { Response } from 'express';
import { setDocumentHeaders } from '../http/safe-headers.js';

/** How often a page asks for itself that waits and has no script to do so. */
export const REFRESH_SECONDS = 5;

/**
 * What a browser may do for the page: its own script, style, images and requests, and nothing of anyone else's.
 * Wallets' icons are data. Wallet extensions live outside of this policy.
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
