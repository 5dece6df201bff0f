import express, { type Express, type RequestHandler } from 'express';
import { pageAssetRoutes } from './checkout-page/assets-route.js';
import { sharedDocument } from './checkout-page/compressed.js';
import { dashboard } from './dashboard/routes.js';
import type { Deps } from './deps/deps.js';
import { docs } from './docs/routes.js';
import { renderMerchantErrors } from './errors/merchant-error.js';
import { readOnly, unknownPath } from './errors/no-such-route.js';
import { programHeaders } from './http/safe-headers.js';
import { requireReadable } from './http/unreadable-request.js';
import { merchantTools } from './mcp/routes.js';
import { inOneLayer } from './middleware/preparations.js';
import { requestId } from './middleware/request-id.js';
import { traceRequests } from './middleware/trace-request.js';
import { warnOfUntrustedProxy } from './middleware/warn-of-untrusted-proxy.js';
import { openApiDocument } from './openapi/document.js';
import { MERCHANT_PATHS } from './openapi/merchant-paths.js';
import { operatorRoutes } from './operator/routes.js';
import { wellKnown } from './operator/well-known.js';
import { linkHeadersOfRefused, linkRelations } from './payment-link/http/link-headers.js';
import { paymentLink } from './payment-link/http/routes.js';
import { merchantApi } from './v1/routes/router.js';

/** The order of the middleware matters. */
export function createApp(deps: Deps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', deps.config.trustProxy);
  // The operations parse queries by their schemas.
  app.set('query parser', false);
  app.set('case sensitive routing', true);

  const setSafeHeaders = programHeaders(deps.config.baseUrl);
  app.use(
    ...traceRequests(MERCHANT_PATHS),
    inOneLayer(
      requestId(deps, MERCHANT_PATHS),
      warnOfUntrustedProxy(deps),
      (_req, res) => setSafeHeaders(res),
      linkHeadersOfRefused(linkRelations(deps.config.baseUrl)),
      requireReadable,
    ),
  );
  // The most used routes come first: Express tries the layers in order on every request.
  app.use('/c', paymentLink(deps));
  app.use('/v1', merchantApi(deps));
  app.use('/mcp', merchantTools(deps));
  app.use('/assets', pageAssetRoutes(deps.pageAssets));
  app.route('/openapi.json').get(sendDocument(deps.config.baseUrl)).all(readOnly);
  app.use(docs(deps));
  app.use(dashboard(deps));
  app.use(wellKnown(deps.receipts));
  app.use(operatorRoutes(deps));
  app.use(unknownPath);
  app.use(renderMerchantErrors(deps.config.baseUrl));
  return app;
}

function sendDocument(baseUrl: string): RequestHandler {
  const send = sharedDocument(() => JSON.stringify(openApiDocument(baseUrl)));
  return (_req, res) => {
    res.setHeader('Content-Type', 'application/json; charset=utf-8');
    res.setHeader('Vary', 'Accept-Encoding');
    return send(res);
  };
}
