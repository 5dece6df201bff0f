import type { Request, RequestHandler, Response } from 'express';
import { principalOf } from '../../http/request-context.js';
import { sendJson, sendPieces } from '../../http/send-json.js';
import { prefers } from '../../input/media-type.js';
import type { RawInput } from '../../input/normalize.js';
import { takeLongTurn } from '../../limits/long-turns.js';
import { bodyOf, queryOf, requireNoQuery } from '../../middleware/parse-body.js';
import { hasLargeBody } from '../../middleware/read-body.js';
import type { Answer } from './answer-once.js';
import type { Call, Operation } from './operation.js';

/** Serves an operation over HTTP. Requires `admit`, and `readBody` for a POST. */
export function serve(operation: Operation): RequestHandler {
  return async (req, res) => {
    const call = callOf(req);
    // A large body takes as long to validate as it took to parse.
    if (hasLargeBody(req)) await takeLongTurn();
    const answer = operation(call);
    // Avoids an unhandled rejection when `req.consumed` rejects first.
    answer.catch(() => undefined);
    await req.consumed;
    const { text } = await answer;
    res.locals.session = payableIdIn(text);
    await sendAnswer(res, await answer);
  };
}

/**
 * The id of the session or refund that an answer presents, for the request log: read from the start of its JSON. A replayed
 * answer is stored as text, without the object.
 */
export function payableIdIn(text: Answer['text']): string | undefined {
  return typeof text === 'string' ? /^\{"id":"((?:cs|re)_\w+)"/.exec(text)?.[1] : undefined;
}

export async function sendAnswer(res: Response, { text, mediaType, isReplay }: Answer): Promise<void> {
  if (mediaType !== undefined) res.setHeader('Content-Type', mediaType);
  if (isReplay) res.setHeader('Idempotent-Replayed', 'true');
  if (typeof text === 'string') sendJson(res, text);
  else await sendPieces(res, text);
}

function callOf(req: Request): Call {
  return {
    principal: principalOf(req),
    input: req.method === 'POST' ? soleBodyOf(req) : queryOf(req),
    id: String(req.params.id ?? ''),
    wantsCsv: wantsCsv(req),
    hasLargeBody: hasLargeBody(req),
    ...keyAndPathOf(req),
  };
}

/** Parses the Accept header only when it names text/csv, which is rare. */
function wantsCsv({ headers: { accept = '' } }: Request): boolean {
  return /text\/csv/i.test(accept) && prefers(accept, 'text/csv', 'application/json');
}

/** The body of a POST; query parameters are refused. */
export function soleBodyOf(req: Request): RawInput {
  requireNoQuery(req);
  return bodyOf(req);
}

/** The path is decoded, as the router decodes the id in it: one request has one path, however a client spells it. */
export function keyAndPathOf(req: Request): Pick<Call, 'idempotencyKey' | 'path'> {
  return {
    idempotencyKey: req.get('Idempotency-Key'),
    path: decodeURIComponent(req.baseUrl + req.path).replace(/\/+$/, ''),
  };
}
