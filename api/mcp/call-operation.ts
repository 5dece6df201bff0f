import type { Response } from 'express';
import type { JsonObject } from '../../shared/x402/json-object.js';
import type { Deps } from '../deps/deps.js';
import { type MerchantError, merchantError } from '../errors/merchant-error.js';
import { principalOf } from '../http/request-context.js';
import { revokedOr } from '../middleware/revoked-first.js';
import type { Answer } from '../v1/operation/answer-once.js';
import { merchantOperations } from '../v1/routes/merchant-operations.js';
import type { MerchantTool } from './merchant-tool.js';
import { placeArguments } from './tool-arguments.js';
import { wholeText } from './whole-text.js';

/** Gives the status and the body of /v1. `res`, the answer at /mcp, gets those of its headers that help a caller. */
type CallOperation = (
  res: Response,
  tool: MerchantTool,
  given: JsonObject,
) => Promise<{ status: number; text: string; code?: string }>;

/**
 * A tool calls the operation that the route of /v1 calls: so parameters, errors, bytes and idempotency, over both ways
 * in, cannot differ. Key and limit were looked at by the request that the call came with.
 */
export function operationCaller(deps: Deps): CallOperation {
  const operations = merchantOperations(deps);

  async function answer(res: Response, tool: MerchantTool, given: JsonObject): Promise<Answer> {
    const { tooMany } = res.locals;
    if (tooMany !== undefined) throw tooMany;
    const principal = principalOf(res.req);
    return await operations[tool.operation]({ principal, ...placeArguments(tool, given) });
  }

  async function refuse({ req }: Response, error: unknown): Promise<MerchantError> {
    return merchantError(await revokedOr(error, deps.db, req.principal), req);
  }

  return async (res, tool, given) => {
    try {
      const { text, isReplay } = await answer(res, tool, given);
      if (isReplay) res.setHeader('Idempotent-Replayed', 'true');
      return { status: 200, text: await wholeText(text) };
    } catch (error) {
      const { status, headers, text, code } = await refuse(res, error);
      const retryAfter = headers['Retry-After'];
      if (retryAfter !== undefined) res.setHeader('Retry-After', retryAfter);
      return { status, text, code };
    }
  };
}
