import { type Response, Router } from 'express';
import { brandStylesOf } from './brand.js';
import { BEST, type Encodings, encodeAll, sendCompressed, sendEncoded } from './compressed.js';
import type { PageAssets } from './page-assets.js';

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/**
 * `/assets/…`: file names hold content hashes, so clients may cache them forever. Each file is compressed on its
 * first request. Unknown names fall through to the 404.
 */
export function pageAssetRoutes({ files }: PageAssets): Router {
  const router = Router({ caseSensitive: true });
  const encoded = new Map<string, Encodings>();
  const encode = (name: string): Encodings | undefined => {
    const bytes = files.get(name);
    const known = encoded.get(name) ?? (bytes && encodeAll(bytes, BEST));
    if (known !== undefined) encoded.set(name, known);
    return known;
  };
  router.get('/:name', (req, res, next) => {
    const { name } = req.params;
    const brand = brandStylesOf(name);
    const found = brand === undefined ? encode(name) : undefined;
    if ((brand ?? found) === undefined || !setAssetHeaders(res, name)) {
      next();
      return;
    }
    // A style sheet of a colour is too short to be compressed, and there are too many colours to keep them.
    if (brand !== undefined) sendCompressed(res, brand);
    else if (found !== undefined) sendEncoded(res, found);
  });
  return router;
}

/** Returns false for other types than scripts and style sheets. */
export function setAssetHeaders(res: Response, name: string): boolean {
  const type = TYPES[name.split('.').at(-1) ?? ''];
  if (type === undefined) return false;
  res.setHeader('Content-Type', type);
  res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  res.setHeader('Vary', 'Accept-Encoding');
  return true;
}
