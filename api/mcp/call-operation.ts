import type { Response } from 'express';
import { requireFullAccess } from '../../shared/accounts/api-keys.js';
import type { JsonObject } from '../../shared/values/json-object.js';
import type { Deps } from '../deps/deps.js';
import { type MerchantError, merchantError } from '../errors/merchant-error.js';
import { principalOf } from '../http/request-context.js';
import { hasLargeBody } from '../middleware/read-body.js';
import { revokedOrError } from '../middleware/revoked-first.js';
import type { Answer } from '../v1/operation/answer-once.js';
import { payableIdIn } from '../v1/operation/serve-operation.js';
import { merchantOperations } from '../v1/routes/merchant-operations.js';
import { collectText } from './collect-text.js';
import type { MerchantTool } from './merchant-tool.js';
import { placeArguments } from './tool-arguments.js';

/** Returns status and body as /v1 would. Sets Retry-After and Idempotent-Replayed on `res`. */
type CallOperation = (
  res: Response,
  tool: MerchantTool,
  given: JsonObject,
) => Promise<{ status: number; text: string; code?: string }>;

/**
 * A tool calls the same operation as the route of /v1, so parameters, errors and idempotency are the same. The key
 * and the rate limit were checked for the HTTP request.
 */
export function operationCaller(deps: Deps): CallOperation {
  const operations = merchantOperations(deps);

  async function answer(res: Response, tool: MerchantTool, given: JsonObject): Promise<Answer> {
    const { tooMany } = res.locals;
    if (tooMany !== undefined) throw tooMany;
    const principal = principalOf(res.req);
    if (tool.effect !== 'reads') requireFullAccess(principal);
    const call = { principal, hasLargeBody: hasLargeBody(res.req), ...placeArguments(tool, given) };
    return await operations[tool.operation](call);
  }

  async function refuse({ req }: Response, error: unknown): Promise<MerchantError> {
    const { id, log, principal } = req;
    const { baseUrl } = deps.config;
    return merchantError(await revokedOrError(error, deps.db, principal), { id, log, baseUrl });
  }

  return async (res, tool, given) => {
    try {
      const { text, isReplay } = await answer(res, tool, given);
      if (isReplay) res.setHeader('Idempotent-Replayed', 'true');
      res.locals.session = payableIdIn(text);
      return { status: 200, text: await collectText(text) };
    } catch (error) {
      const { status, headers, text, code } = await refuse(res, error);
      const retryAfter = headers['Retry-After'];
      if (retryAfter !== undefined) res.setHeader('Retry-After', retryAfter);
      return { status, text, code };
    }
  };
}
