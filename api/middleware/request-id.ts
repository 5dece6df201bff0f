import { newId } from '../../shared/values/ids.js';
import type { Deps } from '../deps/deps.js';
import { onClose } from '../http/on-close.js';
import type { Preparation } from './preparations.js';
import { routeLabels } from './route-label.js';

/**
 * Sets the request id, and logs and counts the request when it is finished. `paths`, such as `/v1/payments/{id}`,
 * name the route of a request that was refused before routing.
 */
export function requestId(
  { logger, metrics }: Pick<Deps, 'logger' | 'metrics'>,
  paths: readonly string[],
): Preparation {
  const labelOf = routeLabels(paths);
  return (req, res) => {
    const startedAt = performance.now();
    req.id = newId('req_');
    req.log = logger;
    res.setHeader('Request-Id', req.id);
    onClose(res, () => {
      const ms = performance.now() - startedAt;
      const route = labelOf(req, res.locals.errorCode !== undefined);
      metrics.request({ method: req.method, route, status: res.statusCode }, ms / 1000);
      logger.info({
        event: 'request.finished',
        request_id: req.id,
        method: req.method,
        route,
        status: res.statusCode,
        tool: res.locals.tool,
        session: res.locals.session,
        // Undefined fields are left out of the line.
        code: res.locals.errorCode,
        account: req.principal?.accountId,
        livemode: req.principal?.livemode,
        ms: Math.round(ms),
        aborted: res.writableFinished ? undefined : true,
      });
    });
  };
}
