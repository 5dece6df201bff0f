import { RpcError } from './rpc-error.js';

/** How public endpoints refuse an eth_getLogs range that is too wide: their codes and messages. */
export const LOG_REFUSALS = {
  named: (most) => new RpcError(-32005, `query exceeds max block range ${most}`),
  alchemy: (most) =>
    new RpcError(
      -32600,
      `You can make eth_getLogs requests with up to a ${most} block range. Based on your parameters, ` +
        'this block range should work: [0x123c9b2, 0x123cba5]',
    ),
  ankr: (most) => new RpcError(-32600, `eth_getLogs is limited to 0 - ${most} blocks range`),
  infura: (most, asked) => new RpcError(-32602, `range ${asked} exceeds limit of ${most}`),
  geth: () => new RpcError(-32000, 'exceed maximum block range'),
  limit: () => new RpcError(-32005, 'limit exceeded'),
  results: () => new RpcError(-32005, 'query returned more than 10000 results'),
  http: (most) => new RpcError(-32602, `block range is too wide (maximum ${most})`, { status: 400 }),
  http_wordless: () => new RpcError(-32000, 'Request Entity Too Large', { status: 413 }),
} as const satisfies Record<string, (most: number, asked: number) => RpcError>;

export type LogRefusal = keyof typeof LOG_REFUSALS;
