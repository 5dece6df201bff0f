import { type RequestHandler, Router } from 'express';
import { VERSION } from '../../shared/process/version.js';
import type { Deps } from '../deps/deps.js';
import { readOnly } from '../errors/no-such-route.js';
import { sendJson } from '../http/send-json.js';
import { adminPages } from './admin.js';
import { requireMetricsToken } from './credentials.js';
import { openReadiness, type Readiness } from './readiness.js';

const ALIVE = JSON.stringify({ status: 'ok', version: VERSION });

/** Health, readiness and metrics for platforms and operators. */
export function operatorRoutes(deps: Deps): Router {
  const router = Router({ caseSensitive: true });
  const readiness = openReadiness(deps);
  router
    .route('/healthz')
    .get((_req, res) => sendJson(res, ALIVE))
    .all(readOnly);
  router
    .route('/readyz')
    .get(async (req, res) => {
      const balancer = deps.lifecycle.readinessChecks.note(req.socket.remoteAddress ?? '');
      const { ready, answer } = await readiness();
      res.status(ready ? 200 : 503);
      if (deps.lifecycle.isStopping && balancer !== undefined) balancer.timesTold += 1;
      sendJson(res, JSON.stringify(answer));
    })
    .all(readOnly);
  const { metricsToken, adminPassword } = deps.config;
  if (metricsToken !== undefined)
    router
      .route('/metrics')
      .get(requireMetricsToken(metricsToken, deps.logger), metricsPage(deps, readiness))
      .all(readOnly);
  if (adminPassword !== undefined) router.use('/admin', adminPages(deps, adminPassword));
  return router;
}

function metricsPage({ metrics }: Deps, readiness: () => Promise<Readiness>): RequestHandler {
  return async (_req, res) => {
    metrics.ready((await readiness()).ready);
    res.type('text/plain; version=0.0.4; charset=utf-8').send(await metrics.read());
  };
}
