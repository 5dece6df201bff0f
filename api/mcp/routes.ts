import { type Request, type RequestHandler, Router } from 'express';
import { requireActiveKey } from '../../shared/accounts/api-keys.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { isJsonObject, type JsonObject } from '../../shared/values/json-object.js';
import type { Deps } from '../deps/deps.js';
import { renderMerchantErrors } from '../errors/merchant-error.js';
import { methodNotAllowed, unknownPath } from '../errors/no-such-route.js';
import { principalOf } from '../http/request-context.js';
import { sendJson } from '../http/send-json.js';
import { takeLongTurn } from '../limits/long-turns.js';
import { authenticate } from '../middleware/authenticate.js';
import { bodyOf } from '../middleware/parse-body.js';
import { consumeAccount } from '../middleware/rate-limit.js';
import { hasLargeBody, readBody } from '../middleware/read-body.js';
import type { AnswerMessage } from './answer-message.js';

/**
 * The merchant API as MCP tools over Streamable HTTP, authenticated with a checkout key. Each POST is complete in
 * itself, without session or stream, so any process may answer it. Errors of the HTTP request (key, method, body)
 * are answered as under /v1, messages as JSON-RPC.
 */
export function merchantTools(deps: Deps): Router {
  let answerMessage: AnswerMessage | undefined;

  const router = Router({ caseSensitive: true });
  router.use((_req, res, next) => {
    res.setHeader('Cache-Control', 'no-store');
    next();
  });
  router.use(authenticate(deps), keyThatCounts(deps), countRequest(deps));
  router
    .route('/')
    .post(readBody(deps), async (req, res) => {
      const message = messageOf(req);
      if (hasLargeBody(req)) await takeLongTurn();
      const { tooMany } = res.locals;
      // Agents see the result of a tool call, but often not the HTTP status, so a call over the limit gets a
      // result.
      if (tooMany !== undefined && message.method !== 'tools/call') throw tooMany;
      // The SDK is loaded with the first message: it costs time and memory.
      const { messageAnswerer } = await import('./answer-message.js');
      answerMessage ??= messageAnswerer(deps);
      const { status, text } = await answerMessage(res, message);
      res.status(status);
      if (text === '') res.end();
      else sendJson(res, text);
    })
    .all(methodNotAllowed('POST'));
  router.use(unknownPath);
  router.use(renderMerchantErrors(deps.config.baseUrl));
  return router;
}

/**
 * Checks the key against the database first, since a message may run no query that does, and a revoked key must be
 * answered with HTTP 401.
 */
function keyThatCounts({ db }: Deps): RequestHandler {
  return async (req, _res, next) => {
    await requireActiveKey(db, principalOf(req));
    next();
  };
}

/** Counts towards the same limit as /v1. The refusal is kept, since its form depends on the body. */
function countRequest({ apiRateLimiter }: Deps): RequestHandler {
  return async (req, res, next) => {
    try {
      await consumeAccount(apiRateLimiter, principalOf(req));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      res.locals.tooMany = error;
    }
    next();
  };
}

/** Requires a single JSON-RPC message: MCP has removed batches. */
function messageOf(req: Request): JsonObject {
  const { encoding, value } = bodyOf(req);
  if (encoding === 'json' && isJsonObject(value)) return value;
  throw new Refusal('unsupported_content_type', 'Send one JSON-RPC message as application/json.');
}
