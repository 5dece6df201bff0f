import { Router } from 'express';
import { methodNotAllowed } from '../../errors/no-such-route.js';
import { readBody } from '../../middleware/parse-body.js';
import { serve } from '../serve-operation.js';
import type { CheckoutSessionOperations } from './operations.js';

export function checkoutSessionRoutes(operations: CheckoutSessionOperations): Router {
  const router = Router({ caseSensitive: true });
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
