import { Router } from 'express';
import { sharedDocument } from '../checkout-page/compressed.js';
import { setPageHeaders } from '../checkout-page/page-headers.js';
import type { Deps } from '../deps/deps.js';
import { readOnly } from '../errors/no-such-route.js';
import { dashboardDocument } from './document.js';

/**
 * `/dashboard`: one document for everyone, kept in memory compressed. Its script and style sheet are files of `/assets`.
 * Without a session on the server there is nothing to sign in to here: the browser sends a checkout key to /v1.
 */
export function dashboard({ config, pageAssets }: Deps): Router {
  const router = Router({ caseSensitive: true });
  if (!config.dashboard) return router;
  // The wallets of `npm start`'s sandbox; production refuses the setting.
  const isSandbox = config.pageScriptUrl !== undefined;
  const send = sharedDocument(() => dashboardDocument(pageAssets, isSandbox));
  router
    .route('/dashboard')
    .get((_req, res) => {
      setPageHeaders(res, undefined);
      res.setHeader('Content-Type', 'text/html; charset=utf-8');
      res.setHeader('Cache-Control', 'no-cache');
      res.setHeader('Vary', 'Accept-Encoding');
      res.setHeader('X-Robots-Tag', 'noindex, nofollow');
      return send(res);
    })
    .all(readOnly);
  return router;
}
