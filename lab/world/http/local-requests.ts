import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../../../shared/values/parse-url.js';

const EXTENSIONS = new Set(['chrome-extension:', 'moz-extension:', 'safari-web-extension:']);

/**
 * True when the caller is on this machine: a program, a page served from this machine such as the payment page, or a
 * wallet extension. A page from elsewhere is refused by its Origin header; a page whose host name was rebound to
 * 127.0.0.1 is refused by its Host header.
 */
export function isLocalRequest({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { host, origin } = headers;
  return isThisMachine(`http://${host}`) && (origin === undefined || isAllowedOrigin(origin));
}

export const FOREIGN_CALLER = { error: 'The sandbox answers programs and pages of this machine alone.' };

function isAllowedOrigin(origin: string): boolean {
  return isThisMachine(origin) || EXTENSIONS.has(parseUrl(origin)?.protocol ?? '');
}

function isThisMachine(url: string): boolean {
  const hostname = parseUrl(url)?.hostname ?? '';
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
