import { newId } from '../../shared/values/ids.js';
import type { Deps } from '../deps/deps.js';
import { whenOver } from '../http/on-close.js';
import type { Preparation } from './preparations.js';
import { routeLabels } from './route-label.js';

/**
 * Gives every request its id and, when it is over, its one log line and its place in the metrics. `paths`, such as
 * `/v1/payments/{id}`, are told apart also when a request is refused before it gets to its route.
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
    whenOver(res, () => {
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
        // What is undefined is left out of the line.
        code: res.locals.errorCode,
        account: req.principal?.accountId,
        livemode: req.principal?.livemode,
        ms: Math.round(ms),
        aborted: res.writableFinished ? undefined : true,
      });
    });
  };
}
