import type { Request } from 'express';
import { newId } from '../../shared/ids.js';
import type { Deps } from '../deps.js';
import { apiPaths } from '../v1/openapi.js';
import type { Step } from './in-one-step.js';

/** Gives every request its id and, when it is over, its one log line and its place in the metrics. */
export function requestId({ logger, metrics }: Pick<Deps, 'logger' | 'metrics'>): Step {
  return (req, res) => {
    const startedAt = performance.now();
    req.id = newId('req_');
    req.log = logger;
    res.setHeader('Request-Id', req.id);
    res.once('close', () => {
      const ms = performance.now() - startedAt;
      const route = routeOf(req);
      metrics.request({ method: req.method, route, status: res.statusCode }, ms / 1000);
      logger.info({
        event: 'request.finished',
        request_id: req.id,
        method: req.method,
        route,
        status: res.statusCode,
        tool: res.locals.tool,
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

/** The template, not the path: paths hold ids, and a link's id is all it takes to see it. */
function routeOf({ baseUrl, route, originalUrl }: Request): string {
  if (typeof route?.path === 'string') return (baseUrl + route.path).replace(/(?<=.)\/$/, '');
  // Refused before it got to its route.
  const [path = ''] = originalUrl.split('?', 1);
  return API_ROUTES.find(({ pattern }) => pattern.test(path))?.template ?? 'unknown';
}

const API_ROUTES = ['/mcp', ...apiPaths()].map((path) => ({
  template: path.replaceAll(/\{(\w+)\}/g, ':$1'),
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
}));
