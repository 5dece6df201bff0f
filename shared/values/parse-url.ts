import { MAX_HOST_LENGTH } from '../limits/bounds.js';

/**
 * Undefined for an invalid URL, and for a host longer than DNS allows: parsing a non-ASCII host takes quadratic time.
 * Not `URL.canParse`: on Node 20 it refuses international names once V8 has optimized it.
 */
export function parseUrl(text: string): URL | undefined {
  if (isTooLong(hostAsWritten(text))) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/**
 * The host before parsing. Like the URL parser it drops tabs and line ends, takes a backslash for a slash, and accepts
 * any number of slashes before the host. Empty for URLs of other schemes.
 */
export function hostAsWritten(text: string): string {
  const [, authority = ''] =
    /^[\p{Cc} ]*(?:https?|wss?|ftp|file):[/\\]*([^/\\?#]*)/iu.exec(text.replaceAll(/[\t\n\r]/g, '')) ?? [];
  return hostAndPort(authority).replace(/:\d*$/, '');
}

/** Drops the credentials of `user:password@host:port`. */
export function hostAndPort(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1);
}

function isTooLong(host: string): boolean {
  // A character is one or two UTF-16 code units; counting code units first is cheap.
  return (
    host.length > MAX_HOST_LENGTH && (host.length > 2 * MAX_HOST_LENGTH || [...host].length > MAX_HOST_LENGTH)
  );
}
