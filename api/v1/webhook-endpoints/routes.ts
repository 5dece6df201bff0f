import { Router } from 'express';
import { methodNotAllowed } from '../../errors/no-such-route.js';
import { readBody } from '../../middleware/parse-body.js';
import { serve } from '../serve-operation.js';
import type { WebhookEndpointOperations } from './operations.js';

export function webhookEndpointRoutes(operations: WebhookEndpointOperations): Router {
  const router = Router({ caseSensitive: true });
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
