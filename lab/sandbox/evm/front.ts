import { isJsonObject } from '../../../shared/values/json-object.js';
import { RpcEndpoint } from '../../world/chains/rpc-endpoint.js';
import { RpcError } from '../../world/chains/rpc-error.js';

/** The methods that wallets, the x402 packages and this service call. Methods that control anvil are not forwarded. */
const OPEN = /^(eth|net|web3)_/;
const INTERNAL_ERROR = -32603;

/** The chain's public endpoint. Anvil itself obeys any web page, and can be told to fetch any address. */
export async function openFront(anvilUrl: string, port: number): Promise<RpcEndpoint> {
  const find = (method: string) =>
    OPEN.test(method) ? (params: readonly unknown[]) => forward(anvilUrl, method, params) : undefined;
  return await RpcEndpoint.start(find, port);
}

async function forward(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer: unknown = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
    .then((response) => response.json())
    .catch(() => undefined);
  if (!isJsonObject(answer)) throw new RpcError(INTERNAL_ERROR, 'The chain is gone', { status: 502 });
  const { result, error } = answer;
  if (isJsonObject(error))
    throw new RpcError(Number(error.code), String(error.message), { data: error.data });
  return result;
}
