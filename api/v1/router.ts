import { Router } from 'express';
import type { Deps } from '../deps.js';
import { renderMerchantErrors } from '../errors/merchant-error.js';
import { methodNotAllowed, unknownPath } from '../errors/no-such-route.js';
import { admit } from '../middleware/authenticate.js';
import { readBody } from '../middleware/parse-body.js';
import { revokedFirst } from '../middleware/revoked-first.js';
import { agentSignUp } from './keys/sign-up.js';
import { type MerchantOperations, merchantOperations } from './merchant-operations.js';
import { serve } from './operation/serve-operation.js';

/** The merchant API. Everything but sign-up is behind a checkout key, unknown paths included. */
export function merchantApi(deps: Deps): Router {
  const operations = merchantOperations(deps);
  const router = newRouter();
  router.post('/keys', agentSignUp(deps));
  router.use(admit(deps));
  router.use('/checkout/sessions', checkoutSessions(operations));
  router.use('/payments', payments(operations));
  router.use('/webhook_endpoints', webhookEndpoints(operations));
  router.all('/keys', methodNotAllowed('POST'));
  router.use(unknownPath);
  router.use(revokedFirst(deps.db), renderMerchantErrors());
  return router;
}

function checkoutSessions(operations: MerchantOperations): Router {
  const router = newRouter();
  router
    .route('/')
    .post(readBody, serve(operations.createCheckoutSession))
    .get(serve(operations.listCheckoutSessions))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router.route('/:id').get(serve(operations.retrieveCheckoutSession)).all(methodNotAllowed('GET, HEAD'));
  router
    .route('/:id/expire')
    .post(readBody, serve(operations.expireCheckoutSession))
    .all(methodNotAllowed('POST'));
  router.route('/:id/line_items').get(serve(operations.listLineItems)).all(methodNotAllowed('GET, HEAD'));
  return router;
}

function payments(operations: MerchantOperations): Router {
  const router = newRouter();
  router.route('/').get(serve(operations.listPayments)).all(methodNotAllowed('GET, HEAD'));
  return router;
}

function webhookEndpoints(operations: MerchantOperations): Router {
  const router = newRouter();
  router
    .route('/')
    .post(readBody, serve(operations.createWebhookEndpoint))
    .get(serve(operations.listWebhookEndpoints))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router
    .route('/:id')
    .get(serve(operations.retrieveWebhookEndpoint))
    .post(readBody, serve(operations.updateWebhookEndpoint))
    .delete(serve(operations.deleteWebhookEndpoint))
    .all(methodNotAllowed('GET, HEAD, POST, DELETE'));
  return router;
}

function newRouter(): Router {
  return Router({ caseSensitive: true });
}
