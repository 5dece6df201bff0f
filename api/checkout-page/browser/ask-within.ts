/**
 * A request that ends after a time, so that an unresponsive server does not block the page. It uses a timer of its own:
 * `AbortSignal.timeout` is missing in browsers that the bundle is built for.
 */
export async function askWithin<T>(
  ms: number,
  url: string,
  options: RequestInit,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), ms);
  try {
    return await read(await fetch(url, { ...options, signal: ending.signal }));
  } finally {
    clearTimeout(timer);
  }
}
