import { OFFERED_TOKENS, type OfferedToken } from '../../shared/chains/networks.js';

/**
 * What x402's own packages (2.27) do not count among a network's default assets, so that a client built on them pays in
 * it only when its owner has said so. Everything else that is offered they take as it is.
 */
const UNKNOWN_TO_STOCK_CLIENTS = new Set([
  'USDC eip155:10',
  'USDC eip155:480',
  'USDC eip155:80002',
  'USDC eip155:43113',
  'USDC eip155:1952',
  'USDC eip155:11155420',
  'USDC eip155:11155111',
  'USDT eip155:42161',
  'USDT eip155:196',
  'USDT eip155:1952',
  'USDG eip155:196',
  'USDG eip155:57073',
  'USDG eip155:1',
  'USDG eip155:1952',
]);

export function isKnownToStockClients({ symbol, network }: OfferedToken): boolean {
  return !UNKNOWN_TO_STOCK_CLIENTS.has(`${symbol} ${network.caip2}`);
}

/** `USDC on Base (eip155:8453), …` */
export function listTokens(which: { testnet: boolean; known: boolean }): string {
  return OFFERED_TOKENS.filter(
    (token) => token.network.testnet === which.testnet && isKnownToStockClients(token) === which.known,
  )
    .map(({ symbol, network }) => `${symbol} on ${network.name} (${network.caip2})`)
    .join(', ');
}
