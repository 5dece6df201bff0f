import { NETWORKS, type Network } from '../chains/networks/networks.js';
import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { certainNow } from '../process/clock.js';
import type { Facilitators } from '../x402/facilitator/facilitators.js';
import { firstTimeOf } from './run.js';
import { NETWORKS_IN_BOOKS } from './statements/positions.sql.js';
import { oldestPayment } from './wallets.js';

/**
 * The networks that the facilitators list, those of earlier runs, and those of payments since then: money may still have
 * arrived on a network that no facilitator lists any more. All networks when a facilitator does not answer.
 */
export async function networksToRead(
  db: Knex,
  facilitators: Pick<Facilitators, 'supportedByAll'>,
  since: Date = firstTimeOf(certainNow()),
): Promise<readonly Network[]> {
  const supported = await facilitators.supportedByAll();
  if (supported === undefined) return NETWORKS;
  const rows = await runStatement<{ network: string }>(db, NETWORKS_IN_BOOKS, [oldestPayment(since)]);
  const inBooks = new Set(rows.map(({ network }) => network));
  return NETWORKS.filter(({ caip2 }) => supported.has(caip2) || inBooks.has(caip2));
}
