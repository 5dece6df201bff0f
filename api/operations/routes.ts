import { Router } from 'express';
import { pendingMigrations } from '../../shared/db/migrate.js';
import type { Deps } from '../deps.js';
import { sendJson } from '../send-json.js';

/** What platforms ask: is the process up, and can it serve? */
export function operations(deps: Deps): Router {
  const router = Router({ caseSensitive: true });
  router.get('/healthz', (_req, res) => sendJson(res, '{"status":"ok"}'));
  router.get('/readyz', async (_req, res) => {
    const checks = await readiness(deps);
    const ready = Object.values(checks).every((state) => state === 'ok');
    res.status(ready ? 200 : 503);
    sendJson(res, JSON.stringify({ status: ready ? 'ready' : 'not_ready', ...checks }));
  });
  return router;
}

type Readiness = Record<'database' | 'migrations' | 'queue_store', 'ok' | 'down' | 'behind' | 'unknown'>;

async function readiness({ db, redis }: Deps): Promise<Readiness> {
  const [pending, queueStore] = await Promise.allSettled([pendingMigrations(db), redis?.ping()]);
  if (pending.status === 'rejected') {
    return {
      database: 'down',
      migrations: 'unknown',
      queue_store: redis === undefined ? 'down' : state(queueStore),
    };
  }
  return {
    database: 'ok',
    migrations: pending.value.length === 0 ? 'ok' : 'behind',
    queue_store: state(queueStore),
  };
}

function state(result: PromiseSettledResult<unknown>): 'ok' | 'down' {
  return result.status === 'fulfilled' ? 'ok' : 'down';
}
