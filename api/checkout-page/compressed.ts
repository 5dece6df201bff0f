import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Response } from 'express';
import { lazy } from '../../shared/process/lazy.js';
import { TurnTime } from '../../shared/process/turn-time.js';
import { watchUnread } from '../http/unread-answers.js';

export type Encodings = Record<'br' | 'gzip' | 'identity', Buffer>;

/** Compressing a shorter response saves no packet. */
const WORTH_BYTES = 1024;

/** Brotli's quality. */
const GOOD = 9;
/** Brotli's default window takes megabytes for each document, and four times the CPU when ten are compressed at once. */
const SMALL_WINDOW = 16;

const brotli = promisify(brotliCompress);
const gzipped = promisify<Buffer, { level: number }, Buffer>(gzip);

/** Thousands of answers may wait while a document is compressed. */
const sendTime = new TurnTime();

/**
 * Sends content that is the same for all. It is written with its first request, and compressed outside of the event loop. All
 * answers share the memory, so that an unread one takes no copy.
 */
export function sharedDocument(write: () => string): (res: Response) => Promise<void> {
  const encoded = lazy(async () => {
    const identity = Buffer.from(write());
    const [br, gzip] = await Promise.all([
      brotli(identity, ofQuality(GOOD)),
      gzipped(identity, { level: 9 }),
    ]);
    return { br, gzip, identity };
  });
  return async (res) => {
    const encodings = await encoded();
    const send = (): void => sendEncoded(res, encodings);
    if (sendTime.ask(send)) send();
  };
}

export function sendEncoded(res: Response, encodings: Encodings): void {
  const encoding = chooseEncoding(res);
  if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
  end(res, encodings[encoding]);
}

export function chooseEncoding(res: Response): keyof Encodings {
  return (['br', 'gzip'] as const).find((name) => accepts(res, name)) ?? 'identity';
}

/**
 * Sends content that is rendered per request. A POST is not compressed: its body may still be arriving, and answering early
 * matters more.
 */
export function sendCompressed(res: Response, text: string): void {
  const bytes = Buffer.from(text);
  const encoding = chooseEncoding(res);
  if (res.req.method === 'POST' || bytes.length < WORTH_BYTES || encoding === 'identity') {
    end(res, bytes);
    watchUnread(res);
    return;
  }
  const send = (error: Error | null, compressed: Buffer): void => {
    if (error === null) res.setHeader('Content-Encoding', encoding);
    end(res, error === null ? compressed : bytes);
    watchUnread(res);
  };
  if (encoding === 'br') brotliCompress(bytes, ofSmallWindow(bytes), send);
  else gzip(bytes, send);
}

function ofSmallWindow(bytes: Buffer): ReturnType<typeof ofQuality> {
  return {
    params: {
      ...ofQuality(GOOD).params,
      [constants.BROTLI_PARAM_LGWIN]: SMALL_WINDOW,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  };
}

function ofQuality(quality: number): { params: Record<number, number> } {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality } };
}

function accepts({ req }: Response, encoding: string): boolean {
  const offered = (req.get('Accept-Encoding') ?? '').toLowerCase().split(',');
  return offered.some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

function end(res: Response, bytes: Buffer): void {
  res.setHeader('Content-Length', bytes.length);
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
}
