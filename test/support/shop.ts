import { buildMerchant, type Merchant } from '../../lab/world/shop/factories.js';
import { type Client, client } from './api-client.js';
import type { TestApp } from './app.js';

/** A merchant with a client for each mode. */
export interface Shop extends Merchant {
  test: Client;
  live: Client;
}

export async function buildShop(app: TestApp): Promise<Shop> {
  const merchant = await buildMerchant(app.db);
  return { ...merchant, test: client(app, merchant.testKey), live: client(app, merchant.liveKey) };
}
