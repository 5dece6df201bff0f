import { type RequestHandler, Router } from 'express';
import type { Deps } from '../../deps/deps.js';
import { renderMerchantErrors } from '../../errors/merchant-error.js';
import { methodNotAllowed, postWithoutId, unknownPath } from '../../errors/no-such-route.js';
import { admit } from '../../middleware/authenticate.js';
import { readBody } from '../../middleware/read-body.js';
import { revokedFirst } from '../../middleware/revoked-first.js';
import { agentSignUp } from '../keys/sign-up.js';
import { serve } from '../operation/serve-operation.js';
import { type MerchantOperations, merchantOperations } from './merchant-operations.js';

/** The merchant API. Every path but `POST /v1/keys` requires a checkout key, unknown paths too. */
export function merchantApi(deps: Deps): Router {
  const operations = merchantOperations(deps);
  const read = readBody(deps);
  const router = Router({ caseSensitive: true });
  router.post('/keys', agentSignUp(deps));
  router.use(admit(deps), postWithoutId);
  // One flat router: a nested router costs every request more than comparing these paths.
  checkoutSessions(router, operations, read);
  payments(router, operations);
  reports(router, operations);
  refunds(router, operations, read);
  events(router, operations, read);
  webhookEndpoints(router, operations, read);
  keys(router, operations);
  router.use(unknownPath);
  router.use(revokedFirst(deps.db), renderMerchantErrors(deps.config.baseUrl));
  return router;
}

function checkoutSessions(router: Router, operations: MerchantOperations, read: RequestHandler): void {
  router
    .route('/checkout/sessions')
    .post(read, serve(operations.createCheckoutSession))
    .get(serve(operations.listCheckoutSessions))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router
    .route('/checkout/sessions/:id')
    .get(serve(operations.retrieveCheckoutSession))
    .all(methodNotAllowed('GET, HEAD'));
  router
    .route('/checkout/sessions/:id/expire')
    .post(read, serve(operations.expireCheckoutSession))
    .all(methodNotAllowed('POST'));
  router
    .route('/checkout/sessions/:id/line_items')
    .get(serve(operations.listLineItems))
    .all(methodNotAllowed('GET, HEAD'));
}

function payments(router: Router, operations: MerchantOperations): void {
  router.route('/payments').get(serve(operations.listPayments)).all(methodNotAllowed('GET, HEAD'));
  router.route('/payments/:id').get(serve(operations.retrievePayment)).all(methodNotAllowed('GET, HEAD'));
}

function reports(router: Router, operations: MerchantOperations): void {
  router.route('/reports/daily').get(serve(operations.listDailyReports)).all(methodNotAllowed('GET, HEAD'));
}

function events(router: Router, operations: MerchantOperations, read: RequestHandler): void {
  router.route('/events').get(serve(operations.listEvents)).all(methodNotAllowed('GET, HEAD'));
  router.route('/events/:id').get(serve(operations.retrieveEvent)).all(methodNotAllowed('GET, HEAD'));
  router.route('/events/:id/resend').post(read, serve(operations.resendEvent)).all(methodNotAllowed('POST'));
}

function refunds(router: Router, operations: MerchantOperations, read: RequestHandler): void {
  router
    .route('/refunds')
    .post(read, serve(operations.createRefund))
    .get(serve(operations.listRefunds))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router.route('/refunds/:id').get(serve(operations.retrieveRefund)).all(methodNotAllowed('GET, HEAD'));
  router
    .route('/refunds/:id/cancel')
    .post(read, serve(operations.cancelRefund))
    .all(methodNotAllowed('POST'));
}

function webhookEndpoints(router: Router, operations: MerchantOperations, read: RequestHandler): void {
  router
    .route('/webhook_endpoints')
    .post(read, serve(operations.createWebhookEndpoint))
    .get(serve(operations.listWebhookEndpoints))
    .all(methodNotAllowed('GET, HEAD, POST'));
  router
    .route('/webhook_endpoints/:id')
    .get(serve(operations.retrieveWebhookEndpoint))
    .post(read, serve(operations.updateWebhookEndpoint))
    .delete(serve(operations.deleteWebhookEndpoint))
    .all(methodNotAllowed('GET, HEAD, POST, DELETE'));
  router
    .route('/webhook_endpoints/:id/deliveries')
    .get(serve(operations.listWebhookDeliveries))
    .all(methodNotAllowed('GET, HEAD'));
  router
    .route('/webhook_endpoints/:id/roll_secret')
    .post(read, serve(operations.rollWebhookSecret))
    .all(methodNotAllowed('POST'));
}

/** `POST /keys` is registered before `admit`. */
function keys(router: Router, operations: MerchantOperations): void {
  router.route('/keys').get(serve(operations.listKeys)).all(methodNotAllowed('GET, HEAD, POST'));
  router.route('/keys/:id').delete(serve(operations.deleteKey)).all(methodNotAllowed('DELETE'));
}
