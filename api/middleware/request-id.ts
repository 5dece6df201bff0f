import type { Request } from 'express';
import { newId } from '../../shared/ids.js';
import type { Deps } from '../deps.js';
import type { Preparation } from './preparations.js';

/**
 * Gives every request its id and, when it is over, its one log line and its place in the metrics. `paths`, such as
 * `/v1/payments/{id}`, are told apart also when a request is refused before it gets to its route.
 */
export function requestId(
  { logger, metrics }: Pick<Deps, 'logger' | 'metrics'>,
  paths: readonly string[],
): Preparation {
  const templates = paths.map(templateOf);
  return (req, res) => {
    const startedAt = performance.now();
    req.id = newId('req_');
    req.log = logger;
    res.setHeader('Request-Id', req.id);
    res.once('close', () => {
      const ms = performance.now() - startedAt;
      const route = routeOf(req, templates, res.locals.errorCode !== undefined);
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

interface Template {
  text: string;
  pattern: RegExp;
}

function templateOf(path: string): Template {
  return {
    text: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
  };
}

/**
 * The template, not the path: paths hold ids, and a link's id is all it takes to see it. Of a request that was refused
 * express has forgotten under which path its route was.
 */
function routeOf(
  { baseUrl, route, originalUrl }: Request,
  templates: readonly Template[],
  isRefused: boolean,
): string {
  const hasRoute = typeof route?.path === 'string';
  if (hasRoute && !isRefused) return (baseUrl + route.path).replace(/(?<=.)\/$/, '');
  const [path = ''] = originalUrl.split('?', 1);
  const template = templates.find(({ pattern }) => pattern.test(path))?.text;
  return template ?? (hasRoute ? baseUrl + route.path : 'unknown');
}
