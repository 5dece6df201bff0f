import type { RequestHandler } from 'express';
import { beginSpan, isTracing } from '../../shared/tracing/spans.js';
import { onClose } from '../http/on-close.js';
import { routeLabels } from './route-label.js';

/** Paths without a span, such as those that platforms poll constantly. */
const UNTRACED = /^\/(healthz|readyz|metrics|assets\/|admin\/)/;

/**
 * Opens one span per request, named by its route. Trace headers of clients are ignored: any client could otherwise write into
 * the traces of others.
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
      onClose(res, () => {
        const route = labelOf(req, res.locals.errorCode !== undefined);
        span.rename(`${req.method} ${route}`);
        span.set({
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
