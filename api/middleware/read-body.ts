import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';
import { LARGE_BODY_HELD_MS, MAX_BODY_BYTES, SMALL_BODY_BYTES } from '../../shared/limits/bounds.js';
import type { Deps } from '../deps/deps.js';
import { whenOver } from '../http/on-close.js';
import type { BodyInFlight } from '../limits/large-bodies.js';
import { takeLongTurn } from '../limits/long-turns.js';

/** Whose bodies these are before a checkout key says it: sign-ups share one account's room. */
const SIGN_UPS = 'sign-ups';

/** Reads the whole body as bytes; what they mean is `bodyOf`'s to say, of a large one in a turn of its own. */
export function readBody({ largeBodies }: Pick<Deps, 'largeBodies'>): RequestHandler {
  return (req, res, next) => {
    if (!hasBody(req)) {
      next();
      return;
    }
    const inFlight = largeBodies.begin(req.principal?.accountId ?? SIGN_UPS);
    const refusal = refusalOfHead(req, inFlight);
    if (refusal !== undefined) {
      refuseUnread(req, res, refusal, next);
      return;
    }
    whenOver(res, inFlight.giveBack);
    collect(req, res, inFlight).then(
      async (bytes) => {
        req.body = bytes;
        if (hasLargeBody(req)) await takeLongTurn();
        next();
      },
      (error: unknown) => refuseUnread(req, res, error, next),
    );
  };
}

export function hasBody(req: Pick<Request, 'headers'>): boolean {
  return req.headers['transfer-encoding'] !== undefined || Number(announcedBytes(req)) > 0;
}

/** Once it was read. */
export function hasLargeBody({ body }: Pick<Request, 'body'>): boolean {
  return Buffer.isBuffer(body) && body.length > SMALL_BODY_BYTES;
}

function announcedBytes({ headers }: Pick<Request, 'headers'>): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** The rest of what was announced is read past, so that the client gets to read why; what may have no end is not. */
function refuseUnread(req: Request, res: Response, error: unknown, next: NextFunction): void {
  if ((announcedBytes(req) ?? Infinity) > MAX_BODY_BYTES) res.setHeader('Connection', 'close');
  next(error);
}

export const ENCODED = 'Send the body as it is: without compression, and without a Content-Encoding.';

/** Compressed, a few bytes can become very many. */
export function isEncoded({ headers }: Pick<Request, 'headers'>): boolean {
  return !/^(identity)?$/i.test((headers['content-encoding'] ?? '').trim());
}

function refusalOfHead(req: Request, inFlight: BodyInFlight): Refusal | undefined {
  if (isEncoded(req)) return new Refusal('unsupported_content_encoding', ENCODED);
  const announced = announcedBytes(req) ?? 0;
  if (announced > MAX_BODY_BYTES) return tooLarge();
  return inFlight.hasRoomFor(announced) ? undefined : noRoom();
}

/** Of a client that has hung up meanwhile nothing is read, which must not be taken for an empty body. */
function collect(req: Request, res: Response, inFlight: BodyInFlight): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > MAX_BODY_BYTES) stop(tooLarge());
      else if (!inFlight.growTo(length)) stop(noRoom());
      else chunks.push(chunk);
      if (length > SMALL_BODY_BYTES && length - chunk.length <= SMALL_BODY_BYTES) endInTime(res);
    };
    const finish = (): void => {
      letGo();
      resolve(Buffer.concat(chunks, length));
    };
    const breakOff = (): void => stop(cutOff());
    const stop = (refusal: Refusal): void => {
      letGo();
      reject(refusal);
    };
    const letGo = (): void => {
      req.off('data', take).off('end', finish).off('close', breakOff).off('error', breakOff);
    };
    if (req.destroyed) reject(cutOff());
    else req.on('data', take).on('end', finish).on('close', breakOff).on('error', breakOff);
  });
}

/** A client that reads its answer byte by byte would keep others' room for ever. */
function endInTime(res: Response): void {
  const timer = setTimeout(() => res.destroy(), LARGE_BODY_HELD_MS);
  whenOver(res, () => clearTimeout(timer));
}

function tooLarge(): Refusal {
  return new Refusal(
    'body_too_large',
    `The request body must be at most ${MAX_BODY_BYTES / 1024 / 1024} MiB.`,
  );
}

function noRoom(): Refusal {
  return new Refusal('rate_limit', 'Too many large bodies at once. Send this one again in a moment.', {
    retryAfterSeconds: 1,
  });
}

function cutOff(): Refusal {
  return new Refusal('malformed_body', 'The connection was closed before the body was read.');
}
