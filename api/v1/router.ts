import { Router } from 'express';
import type { Deps } from '../deps.js';
import { renderMerchantErrors } from '../errors/merchant-error.js';
import { methodNotAllowed, unknownPath } from '../errors/no-such-route.js';
import { admit } from '../middleware/authenticate.js';
import { revokedFirst } from '../middleware/revoked-first.js';
import { checkoutSessionRoutes } from './checkout-sessions/routes.js';
import { agentSignUp } from './keys/routes.js';
import { merchantOperations } from './merchant-operations.js';
import { paymentRoutes } from './payments/routes.js';
import { webhookEndpointRoutes } from './webhook-endpoints/routes.js';

/** The merchant API. Everything but sign-up is behind a checkout key, unknown paths included. */
export function merchantApi(deps: Deps): Router {
  const operations = merchantOperations(deps);
  const router = Router({ caseSensitive: true });
  router.post('/keys', agentSignUp(deps));
  router.use(admit(deps));
  router.use('/checkout/sessions', checkoutSessionRoutes(operations));
  router.use('/payments', paymentRoutes(operations));
  router.use('/webhook_endpoints', webhookEndpointRoutes(operations));
  router.all('/keys', methodNotAllowed('POST'));
  router.use(unknownPath);
  router.use(revokedFirst(deps.db), renderMerchantErrors());
  return router;
}
