import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../../shared/values/parse-url.js';

const EXTENSIONS = new Set(['chrome-extension:', 'moz-extension:', 'safari-web-extension:']);

/**
 * Whether it is this machine that asks: a program, a page of this machine such as the payment page, or a wallet that is
 * an extension. A page from elsewhere names its origin; one whose name was made to point here names that as the host.
 */
export function isLocalRequest({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { host, origin } = headers;
  return isThisMachine(`http://${host}`) && (origin === undefined || isOurs(origin));
}

export const FOREIGN = { error: 'The sandbox answers programs and pages of this machine alone.' };

function isOurs(origin: string): boolean {
  return isThisMachine(origin) || EXTENSIONS.has(parseUrl(origin)?.protocol ?? '');
}

function isThisMachine(url: string): boolean {
  const hostname = parseUrl(url)?.hostname ?? '';
  return /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
}
