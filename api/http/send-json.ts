import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Response } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';
import { PIECE_TAKEN_WITHIN_MS } from '../../shared/limits/bounds.js';
import { whenOver } from './on-close.js';
import { watchUnread } from './unread-answers.js';

const TYPE = 'application/json; charset=utf-8';

/** Sends bytes that are already rendered: what is stored for a replay is exactly what is sent. */
export function sendJson(res: Response, text: string): void {
  res.setHeader('Content-Type', TYPE);
  res.setHeader('Content-Length', Buffer.byteLength(text));
  // A string goes out with its headers in one write; bytes would take two.
  res.end(res.req.method === 'HEAD' ? undefined : text);
  watchUnread(res);
}

/**
 * Sends a text of which a piece at a time is in memory: the next is asked for when the client has taken the one before,
 * in a later turn of the event loop. What fails before the first piece is thrown; later it can be told to the client only
 * by an answer that breaks off.
 */
export async function sendPieces(
  res: Response,
  pieces: AsyncIterable<string>,
  takenWithinMs = PIECE_TAKEN_WITHIN_MS,
): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (res.closed || res.destroyed || res.req.socket.destroyed) return;
      if (!res.hasHeader('Content-Type')) res.setHeader('Content-Type', TYPE);
      if (res.req.method === 'HEAD') break;
      if (res.write(piece)) await nextTurn();
      else await taken(res, takenWithinMs);
    }
    res.end();
  } catch (error) {
    if (!res.headersSent) throw error;
    breakOff(res, error);
  }
}

/** Resolves also when the client is gone, or too slow and therefore cut off. */
function taken(res: Response, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      clearTimeout(timer);
      res.off('drain', goOn);
      forget();
      resolve();
    };
    const timer = setTimeout(() => {
      res.destroy();
      goOn();
    }, withinMs);
    res.once('drain', goOn);
    let forget = (): void => undefined;
    forget = whenOver(res, goOn);
  });
}

function breakOff(res: Response, error: unknown): void {
  const { id, log } = res.req;
  res.locals.errorCode = error instanceof Refusal ? error.code : 'internal_error';
  const { session } = res.locals;
  if (!(error instanceof Refusal))
    log.error({ event: 'request.failed', request_id: id, session, err: error });
  res.destroy();
}
