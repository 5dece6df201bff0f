import type { Knex } from '../db/knex.js';
import { runStatement } from '../db/statement.js';
import { requireFound } from '../errors/refusal.js';
import { moveEndpoint } from './endpoints.js';
import { WebhookEndpoint } from './model.js';
import { FAILING_ENDPOINTS, LAST_TRY } from './statements/operate.sql.js';
import type { DeliveryTry, EndpointStatus } from './states.js';

/** For operators: the same moves as a merchant's, without a key. */
export async function setEndpointStatus(
  db: Knex,
  id: string,
  status: EndpointStatus,
): Promise<WebhookEndpoint> {
  return await db.transaction(async (trx) => {
    const found = await WebhookEndpoint.query(trx).findById(id).whereNull('deletedAt').forNoKeyUpdate();
    const endpoint = requireFound(found, 'webhook endpoint', id);
    // A released delivery is found by the sweep, within a second.
    return await moveEndpoint(trx, endpoint, status);
  });
}

export interface FailingEndpoint {
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
