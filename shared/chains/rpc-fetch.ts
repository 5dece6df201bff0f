export type ChainFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A `fetch` whose every request, until the end of its body, ends with the signal. */
export function fetchUntil(signal: AbortSignal, send: ChainFetch = fetch): ChainFetch {
  return (input, init) => send(input, { ...init, signal });
}
