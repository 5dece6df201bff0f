/** How the characters that end a URL's host are written in a password. */
export const ENCODED = '/ as %2F, ? as %3F, # as %23, @ as %40, % as %25';

/** Whether a `/`, `?` or `#` of the password ended the host: the `@` before the real host then stands behind it. */
export function isCutByPassword(url: URL): boolean {
  const names = [...url.searchParams.keys()];
  return [url.pathname, url.hash, ...names].some((part) => part.includes('@'));
}

/** Whether a part of a URL can be decoded: a percent sign of its own is written as %25. */
export function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
