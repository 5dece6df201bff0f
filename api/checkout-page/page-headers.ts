import type { Response } from 'express';
import { setDocumentHeaders } from '../http/safe-headers.js';
import type { Inlined } from './inlined.js';

/** Reload interval of a waiting page without scripts. */
export const REFRESH_SECONDS = 5;

/** Scripts and style sheets that a document holds. */
export interface InlinedParts {
  scripts: readonly Inlined[];
  styles: readonly Inlined[];
}

/**
 * The policy of the page: images and requests of its own origin only. A document that holds its scripts and styles allows
 * exactly these, by their hashes; other documents allow the scripts and styles of their own origin. Wallet icons are data
 * URLs. Wallet extensions are not subject to the policy.
 */
export function setPageHeaders(
  res: Response,
  walletScript: string | undefined,
  inlined?: InlinedParts,
): void {
  const wallets = walletScript === undefined ? [] : [new URL(walletScript).origin];
  const own = (parts: readonly Inlined[] | undefined): string[] =>
    parts === undefined ? ["'self'"] : parts.map(({ source }) => source);
  const policy = [
    "default-src 'none'",
    sources('script-src', [...own(inlined?.scripts), ...wallets]),
    sources('style-src', own(inlined?.styles)),
    "img-src 'self' data:",
    sources('connect-src', ["'self'", ...wallets]),
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

function sources(directive: string, allowed: readonly string[]): string {
  return `${directive} ${allowed.length === 0 ? "'none'" : allowed.join(' ')}`;
}
