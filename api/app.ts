import express, { type Express } from 'express';
import { pageAssetRoutes } from './checkout-page/assets-route.js';
import type { Deps } from './deps.js';
import { docs } from './docs/routes.js';
import { renderMerchantErrors } from './errors/merchant-error.js';
import { unknownPath } from './errors/no-such-route.js';
import { paymentLink } from './link/routes.js';
import { merchantTools } from './mcp/routes.js';
import { inOneLayer, safeHeaders, warnOfUntrustedProxy } from './middleware/preparations.js';
import { requestId } from './middleware/request-id.js';
import { traceRequests } from './middleware/trace-request.js';
import { openApiDocument } from './openapi/document.js';
import { MERCHANT_PATHS } from './openapi/merchant-paths.js';
import { operations } from './operations/routes.js';
import { wellKnown } from './operations/well-known.js';
import { sendJson } from './send-json.js';
import { merchantApi } from './v1/router.js';

const HSTS_SECONDS = 31_536_000;

/** Every middleware, in order. */
export function createApp(deps: Deps): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', deps.config.trustProxy);
  // Queries are parsed where a schema says what they may hold.
  app.set('query parser', false);
  app.set('case sensitive routing', true);

  const isHttps = deps.config.baseUrl.startsWith('https:');
  const strictTransportSecurity = isHttps && { maxAge: HSTS_SECONDS, includeSubDomains: false };
  app.use(
    ...traceRequests(MERCHANT_PATHS),
    inOneLayer(
      requestId(deps, MERCHANT_PATHS),
      warnOfUntrustedProxy(deps),
      safeHeaders({ strictTransportSecurity }),
    ),
  );
  // What is asked most comes first: each layer before it is a step of every request.
  app.use('/c', paymentLink(deps));
  app.use('/v1', merchantApi(deps));
  app.use('/mcp', merchantTools(deps));
  app.use('/assets', pageAssetRoutes(deps.pageAssets));
  const document = JSON.stringify(openApiDocument(deps.config.baseUrl));
  app.get('/openapi.json', (_req, res) => sendJson(res, document));
  app.use(docs(deps));
  app.use(wellKnown(deps.receipts));
  app.use(operations(deps));
  app.use(unknownPath);
  app.use(renderMerchantErrors());
  return app;
}
