import { OFFERED_TOKENS, type OfferedToken } from '../../shared/chains/networks.js';
import { isListedByStockClients } from '../payment-link/stock-clients.js';

export function isKnownToStockClients({ network, address }: OfferedToken): boolean {
  return isListedByStockClients({ network: network.caip2, asset: address });
}

/** `USDC on Base (eip155:8453), …` */
export function listTokens(which: { testnet: boolean; known: boolean }): string {
  return OFFERED_TOKENS.filter(
    (token) => token.network.testnet === which.testnet && isKnownToStockClients(token) === which.known,
  )
    .map(({ symbol, network }) => `${symbol} on ${network.name} (${network.caip2})`)
    .join(', ');
}
