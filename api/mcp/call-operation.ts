import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type RequestHandler, type Response, Router } from 'express';
import type { JsonObject } from '../../shared/x402/json-object.js';
import type { Deps } from '../deps.js';
import { principalOf } from '../request-context.js';
import { withOperations } from '../v1/router.js';
import { placeArguments } from './tool-arguments.js';
import type { MerchantTool } from './tools.js';

interface Call {
  /** The answer, at /mcp, that waits for this one. */
  outer: Response;
  tool: MerchantTool;
  given: JsonObject;
}

/** What /v1 says in headers, and the answer at /mcp with it. */
const PASSED_ON = ['Idempotent-Replayed', 'Retry-After'];

/** The status and the body that /v1 answers with. */
export type CallOperation = (call: Call) => Promise<{ status: number; text: string }>;

/**
 * A tool call is a request of /v1 that comes from within, and passes the very routes: so parameters, errors, bytes and
 * idempotency, over both ways in, cannot differ. Key and limit were looked at by the request that it came with, whose
 * id and log it carries on.
 */
export function operationCaller(deps: Deps): CallOperation {
  const calls = new WeakMap<IncomingMessage, Call>();
  const takeCall: RequestHandler = (req, _res, next) => {
    const call = calls.get(req);
    if (call === undefined) throw new Error('this request is no tool call');
    const { tooMany } = call.outer.locals;
    if (tooMany !== undefined) throw tooMany;
    const { path, idempotencyKey, others } = placeArguments(call.tool, call.given);
    req.url = path;
    if (idempotencyKey !== undefined) req.headers['idempotency-key'] = idempotencyKey;
    req.toolArguments = others;
    next();
  };
  const app = express();
  app.use('/v1', withOperations(Router({ caseSensitive: true }).use(takeCall), deps));

  return async (call) => {
    const { id, log } = call.outer.req;
    const request = Object.assign(new IncomingMessage(new Socket()), {
      method: call.tool.method,
      url: '/v1/',
      id,
      log,
      principal: principalOf(call.outer.req),
    });
    calls.set(request, call);
    const response = new ServerResponse(request);
    const text = await new Promise<string>((resolve) => {
      response.end = (body?: unknown) => {
        resolve(String(body));
        return response;
      };
      app(request, response);
    });
    for (const name of PASSED_ON) {
      const value = response.getHeader(name);
      if (value !== undefined) call.outer.setHeader(name, value);
    }
    return { status: response.statusCode, text };
  };
}
