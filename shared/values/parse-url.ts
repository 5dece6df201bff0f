import { MAX_HOST_LENGTH } from '../limits/bounds.js';

/**
 * Undefined for what is no URL, and for a host that DNS has no room for: one in other letters than ASCII takes the
 * parser as long as its length squared. Not `URL.canParse`: on Node 20, once hot, it refuses international names.
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
 * As the parser finds it: tabs and line ends are dropped, a backslash is a slash, and of slashes before a host there may
 * be none or many. Empty where the parser looks for no such host.
 */
export function hostAsWritten(text: string): string {
  const [, authority = ''] =
    /^[\p{Cc} ]*(?:https?|wss?|ftp|file):[/\\]*([^/\\?#]*)/iu.exec(text.replaceAll(/[\t\n\r]/g, '')) ?? [];
  return hostAndPort(authority).replace(/:\d*$/, '');
}

/** What of `user:password@host:port` leads somewhere. */
export function hostAndPort(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1);
}

function isTooLong(host: string): boolean {
  // A character has up to two of the units that a string is made of.
  return (
    host.length > MAX_HOST_LENGTH && (host.length > 2 * MAX_HOST_LENGTH || [...host].length > MAX_HOST_LENGTH)
  );
}
