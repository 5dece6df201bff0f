import type { RequestHandler } from 'express';
import { beginSpan, isTracing } from '../../shared/tracing/spans.js';
import { whenOver } from '../http/on-close.js';
import { routeLabels } from './route-label.js';

/** What platforms and programs ask all the time. */
const UNTRACED = /^\/(healthz|readyz|metrics|assets\/|admin\/)/;

/**
 * A span for each request, by the name of its route. A trace begins here: whoever asks is not asked for one, or anybody
 * could write into anybody's.
 */
export function traceRequests(paths: readonly string[]): RequestHandler[] {
  if (!isTracing()) return [];
  const labelOf = routeLabels(paths);
  return [
    (req, res, next) => {
      const span = UNTRACED.test(req.url)
        ? undefined
        : beginSpan({ name: req.method, kind: 'server', parent: null });
      if (span === undefined) return next();
      whenOver(res, () => {
        const route = labelOf(req, res.locals.errorCode !== undefined);
        span.rename(`${req.method} ${route}`);
        span.say({
          'http.request.method': req.method,
          'http.route': route,
          'http.response.status_code': res.statusCode,
          'checkout.request': req.id,
          'checkout.session': res.locals.session,
          'checkout.account': req.principal?.accountId,
          'checkout.tool': res.locals.tool,
          'checkout.code': res.locals.errorCode,
        });
        if (res.statusCode >= 500) span.fail(res.locals.errorCode ?? String(res.statusCode));
        span.end();
      });
      span.within(next);
    },
  ];
}
