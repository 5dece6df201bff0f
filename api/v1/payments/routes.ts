import { Router } from 'express';
import { methodNotAllowed } from '../../errors/no-such-route.js';
import { serve } from '../serve-operation.js';
import type { PaymentOperations } from './operations.js';

export function paymentRoutes(operations: PaymentOperations): Router {
  const router = Router({ caseSensitive: true });
  router.route('/').get(serve(operations.listPayments)).all(methodNotAllowed('GET, HEAD'));
  return router;
}
