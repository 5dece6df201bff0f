/** Undefined for what is no URL. Not `URL.canParse`: on Node 20, once hot, it refuses international names. */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}
