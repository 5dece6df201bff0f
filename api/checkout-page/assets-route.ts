import { type Response, Router } from 'express';
import { sendJson } from '../http/send-json.js';
import { type Encodings, sendEncoded } from './compressed.js';
import type { PageAssets } from './page-assets.js';
import { walletChains } from './wallet-chains.js';

const TYPES: Record<string, string> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/**
 * `/assets/…`: file names hold content hashes, so clients may cache them forever. The build has compressed each file.
 * Unknown names fall through to the 404. `wallet-chains.json` is for wallets that do not know a network, which are few.
 */
export function pageAssetRoutes({ files }: PageAssets): Router {
  const router = Router({ caseSensitive: true });
  const chains = JSON.stringify(walletChains());
  const find = (name: string): Encodings | undefined => {
    const [identity, br, gzip] = [name, `${name}.br`, `${name}.gz`].map((file) => files.get(file));
    return identity && br && gzip && { identity, br, gzip };
  };
  router.get('/wallet-chains.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=3600');
    sendJson(res, chains);
  });
  router.get('/:name', (req, res, next) => {
    const { name } = req.params;
    const found = find(name);
    if (found === undefined || !setAssetHeaders(res, name)) next();
    else sendEncoded(res, found);
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
