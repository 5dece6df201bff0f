import { inSpan, isTracing } from '../tracing/spans.js';

export type ChainFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A `fetch` whose every request, until the end of its body, ends with the signal. */
export function fetchUntil(signal: AbortSignal, send: ChainFetch = fetch): ChainFetch {
  return (input, init) => send(input, { ...init, signal });
}

/** With a span for each request, named by what it asks; an endpoint's URL may be a secret. */
export function tracedFetch(network: string, send: ChainFetch): ChainFetch {
  return (input, init) => {
    if (!isTracing()) return send(input, init);
    const method = /"method":"(\w+)"/.exec(String(init?.body ?? ''))?.[1] ?? 'rpc';
    const attributes = { 'peer.service': 'chain', 'rpc.system': 'jsonrpc', 'checkout.network': network };
    return inSpan({ name: method, kind: 'client', attributes }, async (span) => {
      const response = await send(input, init);
      span.set({ 'http.response.status_code': response.status });
      return response;
    });
  };
}
