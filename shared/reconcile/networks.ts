import { NETWORKS, type Network } from '../chains/networks.js';
import type { Knex } from '../db/knex.js';
import type { SupportedKinds } from '../x402/requirements.js';
import { networksRead } from './positions.js';

/**
 * The networks that links offer, and the networks of earlier runs: money may still have arrived on a network that no
 * facilitator lists any more. All networks when no facilitator answers.
 */
export async function networksToRead(
  db: Knex,
  supported: SupportedKinds | undefined,
): Promise<readonly Network[]> {
  if (supported === undefined) return NETWORKS;
  const earlier = await networksRead(db);
  return NETWORKS.filter(({ caip2 }) => supported.has(caip2) || earlier.has(caip2));
}
