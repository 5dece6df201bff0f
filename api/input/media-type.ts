import type { Request } from 'express';

/** A longer header is not read. */
const MAX_ACCEPT_LENGTH = 1000;

interface Match {
  quality: number;
  /** 2 for the type itself, 1 for `text/*`, 0 for any type. */
  precision: number;
  position: number;
}

/**
 * Whether an Accept header asks for one media type rather than for the other: by quality, then precision, then position.
 * Parameters other than `q` are ignored, such as the character set.
 */
export function prefers(accept: string, one: string, other: string): boolean {
  const ranges = accept.slice(0, MAX_ACCEPT_LENGTH).toLowerCase().split(',');
  const wanted = bestMatch(ranges, one);
  const instead = bestMatch(ranges, other);
  if (wanted === undefined || wanted.quality === 0) return false;
  if (instead === undefined || wanted.quality !== instead.quality)
    return wanted.quality > (instead?.quality ?? 0);
  if (wanted.precision !== instead.precision) return wanted.precision > instead.precision;
  return wanted.position < instead.position;
}

/** Whether an Accept header allows a media type. An empty or missing header allows every type. */
export function accepts(accept: string | undefined, type: string): boolean {
  const header = accept?.trim() ? accept : '*/*';
  const ranges = header.slice(0, MAX_ACCEPT_LENGTH).toLowerCase().split(',');
  return (bestMatch(ranges, type)?.quality ?? 0) > 0;
}

/** The most precise range that the type is in. */
function bestMatch(ranges: readonly string[], type: string): Match | undefined {
  const names = ['*/*', `${type.split('/', 1)[0]}/*`, type];
  let best: Match | undefined;
  for (const [position, range] of ranges.entries()) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const precision = names.indexOf(name);
    if (precision === -1 || precision <= (best?.precision ?? -1)) continue;
    const q = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const quality = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1)) || 0;
    best = { quality, precision, position };
  }
  return best;
}

/** Browsers load pages with text/html in Accept; agents do not send it. */
export function wantsPage(req: Pick<Request, 'get'>): boolean {
  return /\btext\/html\b/i.test(req.get('Accept') ?? '');
}
