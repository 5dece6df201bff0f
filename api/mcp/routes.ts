import { type Request, type RequestHandler, Router } from 'express';
import { requireKeyThatCounts } from '../../shared/accounts/api-keys.js';
import { Refusal } from '../../shared/errors/refusal.js';
import { isJsonObject, type JsonObject } from '../../shared/x402/json-object.js';
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
 * The merchant API as tools for a merchant's own agent: MCP over Streamable HTTP, behind a checkout key. Each POST is
 * whole in itself: no session, no stream, so any process may answer it. What concerns the HTTP request (key, method,
 * body) is answered as /v1 answers it; a message's answer is JSON-RPC.
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
      // An agent sees what its call came to, but seldom the HTTP status below it.
      if (tooMany !== undefined && message.method !== 'tools/call') throw tooMany;
      // Loaded by the first message: the SDK takes time and memory that a process without agents keeps.
      const { messageAnswerer } = await import('./answer-message.js');
      answerMessage ??= messageAnswerer(deps);
      const { status, text } = await answerMessage(res, message);
      res.status(status);
      if (text === '') res.end();
      else sendJson(res, text);
    })
    .all(methodNotAllowed('POST'));
  router.use(unknownPath);
  router.use(renderMerchantErrors());
  return router;
}

/** Asked first and by itself: a message may come to no statement that asks it, and a 401 is for HTTP to tell. */
function keyThatCounts({ db }: Deps): RequestHandler {
  return async (req, _res, next) => {
    await requireKeyThatCounts(db, principalOf(req));
    next();
  };
}

/** Counts as under /v1; what to do about one too many depends on its body. */
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

/** One JSON-RPC message: MCP has no batches any more. */
function messageOf(req: Request): JsonObject {
  const { encoding, value } = bodyOf(req);
  if (encoding === 'json' && isJsonObject(value)) return value;
  throw new Refusal('unsupported_content_type', 'Send one JSON-RPC message as application/json.');
}
