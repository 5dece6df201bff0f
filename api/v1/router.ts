import { type RequestHandler, Router } from 'express';
import type { Deps } from '../deps.js';
import { renderMerchantErrors } from '../errors/merchant-error.js';
import { methodNotAllowed, unknownPath } from '../errors/no-such-route.js';
import { admit } from '../middleware/authenticate.js';
import { readBody } from '../middleware/read-body.js';
import { revokedFirst } from '../middleware/revoked-first.js';
import { agentSignUp } from './keys/sign-up.js';
import { type MerchantOperations, merchantOperations } from './merchant-operations.js';
import { serve } from './operation/serve-operation.js';

/** The merchant API. Everything but sign-up is behind a checkout key, unknown paths included. */
export function merchantApi(deps: Deps): Router {
  const operations = merchantOperations(deps);
  const read = readBody(deps);
  const router = newRouter();
  router.post('/keys', agentSignUp(deps));
  router.use(admit(deps));
  router.use('/checkout/sessions', checkoutSessions(operations, read));
  router.use('/payments', payments(operations));
  router.use('/refunds', refunds(operations, read));
  router.use('/events', events(operations, read));
  router.use('/webhook_endpoints', webhookEndpoints(operations, read));
  router.use('/keys', keys(operations));
  router.use(unknownPath);
  router.use(revokedFirst(deps.db), renderMerchantErrors());
  return router;
}

function checkoutSessions(operations: MerchantOperations, read: RequestHandler): Router {
  const router = newRouter();
  router
    .route('/')
    .post(read, serve(operations.createCheckoutSession))
    .get(serve(operations.listCheckoutSessions))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router.route('/:id').get(serve(operations.retrieveCheckoutSession)).all(methodNotAllowed('GET, HEAD'));
  router
    .route('/:id/expire')
    .post(read, serve(operations.expireCheckoutSession))
    .all(methodNotAllowed('POST'));
  router.route('/:id/line_items').get(serve(operations.listLineItems)).all(methodNotAllowed('GET, HEAD'));
  return router;
}

function payments(operations: MerchantOperations): Router {
  const router = newRouter();
  router.route('/').get(serve(operations.listPayments)).all(methodNotAllowed('GET, HEAD'));
  router.route('/:id').get(serve(operations.retrievePayment)).all(methodNotAllowed('GET, HEAD'));
  return router;
}

function events(operations: MerchantOperations, read: RequestHandler): Router {
  const router = newRouter();
  router.route('/').get(serve(operations.listEvents)).all(methodNotAllowed('GET, HEAD'));
  router.route('/:id').get(serve(operations.retrieveEvent)).all(methodNotAllowed('GET, HEAD'));
  router.route('/:id/resend').post(read, serve(operations.resendEvent)).all(methodNotAllowed('POST'));
  return router;
}

function refunds(operations: MerchantOperations, read: RequestHandler): Router {
  const router = newRouter();
  router
    .route('/')
    .post(read, serve(operations.createRefund))
    .get(serve(operations.listRefunds))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router.route('/:id').get(serve(operations.retrieveRefund)).all(methodNotAllowed('GET, HEAD'));
  router.route('/:id/cancel').post(read, serve(operations.cancelRefund)).all(methodNotAllowed('POST'));
  return router;
}

function webhookEndpoints(operations: MerchantOperations, read: RequestHandler): Router {
  const router = newRouter();
  router
    .route('/')
    .post(read, serve(operations.createWebhookEndpoint))
    .get(serve(operations.listWebhookEndpoints))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router
    .route('/:id')
    .get(serve(operations.retrieveWebhookEndpoint))
    .post(read, serve(operations.updateWebhookEndpoint))
    .delete(serve(operations.deleteWebhookEndpoint))
    .all(methodNotAllowed('GET, HEAD, POST, DELETE'));
  router
    .route('/:id/deliveries')
    .get(serve(operations.listWebhookDeliveries))
    .all(methodNotAllowed('GET, HEAD'));
  router
    .route('/:id/roll_secret')
    .post(read, serve(operations.rollWebhookSecret))
    .all(methodNotAllowed('POST'));
  return router;
}

/** But for making one. */
function keys(operations: MerchantOperations): Router {
  const router = newRouter();
  router.route('/').get(serve(operations.listKeys)).all(methodNotAllowed('GET, HEAD, POST'));
  router.route('/:id').delete(serve(operations.deleteKey)).all(methodNotAllowed('DELETE'));
  return router;
}

function newRouter(): Router {
  return Router({ caseSensitive: true });
}
