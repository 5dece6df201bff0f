import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';
import { PIECE_TAKEN_WITHIN_MS } from '../../shared/limits/bounds.js';
import { type Failure, logFailure } from './log-failure.js';
import { onClose } from './on-close.js';
import { watchUnread } from './unread-answers.js';

const TYPE = 'application/json; charset=utf-8';
/** The `code` in the log of an answer that was broken off. */
const ERROR_CODES: Record<Failure, string> = {
  busy: 'rate_limit',
  database_away: 'service_unavailable',
  internal: 'internal_error',
};

/** Sends text that is already rendered, so that a stored idempotent response is replayed byte for byte. */
export function sendJson(res: Response, text: string): void {
  res.setHeader('Content-Type', TYPE);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  // Node writes a string together with the headers; a buffer would take a second write.
  res.end(res.req.method === 'HEAD' ? undefined : text);
  watchUnread(res);
}

/**
 * Streams a response with one piece in memory at a time: the next piece is read when the client has drained the last
 * one, in a later turn of the event loop. An error before the first piece is thrown; after it, the connection is
 * closed.
 */
export async function sendPieces(
  res: Response,
  pieces: AsyncIterable<string>,
  drainWithinMs = PIECE_TAKEN_WITHIN_MS,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (res.closed || res.destroyed || res.req.socket.destroyed) return;
      if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', TYPE);
      if (res.req.method === 'HEAD') break;
      // A client on the same machine may have drained it in this turn.
      if (!res.write(piece)) await drained(res, drainWithinMs);
      await nextTurn();
    }
    res.end();
  } catch (error) {
    if (!res.headersSent) throw error;
    abort(res, error);
  }
}

/** Resolves on `drain`, when the client is gone, or when the client is too slow and was disconnected. */
function drained(res: Response, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const proceed = (): void => {
      clearTimeout(timer);
      res.off('drain', proceed);
      unregister();
      resolve();
    };
    const timer = setTimeout(() => {
      res.destroy();
      proceed();
    }, withinMs);
    res.once('drain', proceed);
    let unregister = (): void => undefined;
    unregister = onClose(res, proceed);
  });
}

function abort(res: Response, error: unknown): void {
  if (error instanceof Refusal) res.locals.errorCode = error.code;
  else res.locals.errorCode = ERROR_CODES[logFailure(error, res.req, res.locals.session)];
  res.destroy();
}
