import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { WebhookEndpoint } from './model.js';
import { FAILING_ENDPOINTS, LAST_TRY } from './statements/failing-endpoints.sql.js';
import type { DeliveryTry } from './states.js';

interface FailingEndpoint {
  endpoint: WebhookEndpoint;
  lastTry: DeliveryTry | undefined;
}

/** The endpoints whose last tries have failed, the longest failing first: at most `limit`. */
export async function listFailingEndpoints(db: Knex, limit: number): Promise<FailingEndpoint[]> {
  const ids = await runStatement<{ id: string }>(db, FAILING_ENDPOINTS, [limit]);
  const found = await WebhookEndpoint.query(db).findByIds(ids.map(({ id }) => id));
  const byId = new Map(found.map((endpoint) => [endpoint.id, endpoint]));
  const failing: FailingEndpoint[] = [];
  for (const { id } of ids) {
    const endpoint = byId.get(id);
    if (endpoint !== undefined) failing.push({ endpoint, lastTry: await readLastTry(db, id) });
  }
  return failing;
}

async function readLastTry(db: Knex, endpointId: string): Promise<DeliveryTry | undefined> {
  const [row] = await runStatement<{ entry: DeliveryTry }>(db, LAST_TRY, [endpointId]);
  return row?.entry;
}
