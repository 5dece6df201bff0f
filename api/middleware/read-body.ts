import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { Refusal } from '../../shared/errors/refusal.js';
import { LARGE_BODY_IN_FLIGHT_MS, MAX_BODY_BYTES, SMALL_BODY_BYTES } from '../../shared/limits/bounds.js';
import type { Budget, Claim } from '../../shared/limits/budget.js';
import type { Deps } from '../deps/deps.js';
import { onClose } from '../http/on-close.js';
import { whyUnreadable } from '../http/unreadable-request.js';
import { takeLongTurn } from '../limits/long-turns.js';

/** Sign-ups have no account yet: their large bodies together count as one account's. */
const SIGN_UPS = 'sign-ups';

/** Reads the whole body as bytes, which `bodyOf` parses. The handler of a large body runs in a long turn of its own. */
export function readBody({ largeBodies }: Pick<Deps, 'largeBodies'>): RequestHandler {
  return (req, res, next) => {
    if (!hasBody(req)) {
      next();
      return;
    }
    const account = req.principal?.accountId ?? SIGN_UPS;
    const refusal = refusalOfHead(req, largeBodies, account);
    if (refusal !== undefined) {
      refuseUnread(req, res, refusal, next);
      return;
    }
    collect(req, () => claimLargeBody(res, largeBodies, account)).then(
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

/** Requires `readBody`. */
export function hasLargeBody({ body }: Pick<Request, 'body'>): boolean {
  return Buffer.isBuffer(body) && body.length > SMALL_BODY_BYTES;
}

function announcedBytes({ headers }: Pick<Request, 'headers'>): number | undefined {
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/**
 * The rest of an announced body is read and dropped, so that the client gets to read the answer; a body without a known end
 * is not.
 */
function refuseUnread(req: Request, res: Response, error: unknown, next: NextFunction): void {
  if ((announcedBytes(req) ?? Infinity) > MAX_BODY_BYTES) res.setHeader('Connection', 'close');
  next(error);
}

export const ENCODED =
  'Send the body as it is: without compression, without a Content-Encoding, and with no Transfer-Encoding but chunked.';

/** Compressed bodies are refused: a few bytes can expand to very many. Node decodes `chunked` and no other coding. */
export function isEncoded({ headers }: Pick<Request, 'headers'>): boolean {
  const content = (headers['content-encoding'] ?? '').trim();
  const transfer = (headers['transfer-encoding'] ?? '').trim();
  return !/^(identity)?$/i.test(content) || !/^(chunked)?$/i.test(transfer);
}

function refusalOfHead(req: Request, largeBodies: Budget, account: string): Refusal | undefined {
  if (isEncoded(req)) return new Refusal('unsupported_content_encoding', ENCODED);
  const announced = announcedBytes(req) ?? 0;
  if (announced > MAX_BODY_BYTES) return tooLarge();
  const hasRoom = announced <= SMALL_BODY_BYTES || largeBodies.fits(announced, account);
  return hasRoom ? undefined : noRoom();
}

/**
 * The bytes of a large body count as they arrive, so that an announced length alone takes no room. A client that has hung
 * up sends nothing, which must not be read as an empty body.
 */
function collect(req: Request, claimRoom: () => Claim): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let claim: Claim | undefined;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > SMALL_BODY_BYTES) claim ??= claimRoom();
      if (length > MAX_BODY_BYTES) stop(tooLarge());
      else if (claim?.growTo(length) === false) stop(noRoom());
      else chunks.push(chunk);
    };
    const finish = (): void => {
      unsubscribe();
      resolve(Buffer.concat(chunks, length));
    };
    const disconnected = (error?: unknown): void => stop(error instanceof Refusal ? error : cutOff());
    const stop = (refusal: Refusal): void => {
      unsubscribe();
      reject(refusal);
    };
    const unsubscribe = (): void => {
      req.off('data', take).off('end', finish).off('close', disconnected).off('error', disconnected);
    };
    const unreadable = whyUnreadable(req);
    if (unreadable !== undefined) reject(unreadable);
    else if (req.destroyed) reject(cutOff());
    else req.on('data', take).on('end', finish).on('close', disconnected).on('error', disconnected);
  });
}

/** The claim ends with the answer. A client that sends or reads byte by byte is cut off: it would keep the room for ever. */
function claimLargeBody(res: Response, largeBodies: Budget, account: string): Claim {
  const claim = largeBodies.claim(account);
  const timer = setTimeout(() => res.destroy(), LARGE_BODY_IN_FLIGHT_MS);
  onClose(res, () => {
    clearTimeout(timer);
    claim.release();
  });
  return claim;
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
