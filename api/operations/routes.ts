import { type RequestHandler, Router } from 'express';
import { isClockOff } from '../../shared/db/follow-clock.js';
import { pendingMigrations } from '../../shared/migrate.js';
import type { Deps } from '../deps.js';
import { sendJson } from '../send-json.js';
import { adminPages } from './admin.js';
import { requireMetricsToken } from './credentials.js';

/** What platforms and operators ask: is the process up, can it serve, how does it do? */
export function operations(deps: Deps): Router {
  const router = Router({ caseSensitive: true });
  router.get('/healthz', (_req, res) => sendJson(res, '{"status":"ok"}'));
  router.get('/readyz', async (_req, res) => {
    const checks = await readiness(deps);
    const ready = Object.values(checks).every((state) => state === 'ok') && !deps.lifecycle.isStopping;
    res.status(ready ? 200 : 503);
    // It serves all the same, by Postgres' clock: no reason to take it out of service, and one to be told of.
    const clock = isClockOff() ? 'off' : 'ok';
    sendJson(res, JSON.stringify({ status: statusOf(deps, ready), ...checks, clock }));
  });
  const { metricsToken, adminPassword } = deps.config;
  if (metricsToken !== undefined)
    router.get('/metrics', requireMetricsToken(metricsToken, deps.logger), metricsPage(deps));
  if (adminPassword !== undefined) router.use('/admin', adminPages(deps, adminPassword));
  return router;
}

function statusOf({ lifecycle }: Deps, ready: boolean): 'ready' | 'not_ready' | 'stopping' {
  if (lifecycle.isStopping) return 'stopping';
  return ready ? 'ready' : 'not_ready';
}

function metricsPage({ metrics }: Deps): RequestHandler {
  return async (_req, res) => {
    res.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.read());
  };
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
