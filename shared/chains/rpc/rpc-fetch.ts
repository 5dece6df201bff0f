import { inSpan, isTracing } from '../../tracing/spans.js';

export type ChainFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The statuses with which a `Response` takes no body. */
export const BODYLESS: readonly number[] = [204, 205, 304];

/** Adds a span to each request, named by its RPC method and never by the URL, which may hold a key. */
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
