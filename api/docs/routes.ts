import { Router } from 'express';
import { setPageHeaders } from '../checkout-page/page-headers.js';
import type { Deps } from '../deps.js';
import { listReferenceAssets, sendReferenceAsset } from './reference-assets.js';
import { renderReferencePage } from './reference-page.js';

/** `/docs`: what this host says about itself. */
export function docs({ referenceFolder }: Deps): Router {
  const router = Router({ caseSensitive: true });
  router.get('/docs', async (_req, res) => {
    const page = renderReferencePage(await listReferenceAssets(referenceFolder));
    setPageHeaders(res, undefined);
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.setHeader('Cache-Control', 'no-cache');
    res.send(page);
  });
  router.get('/docs/assets/:name', async (req, res, next) => {
    const isThere = await sendReferenceAsset(res, referenceFolder, req.params.name);
    if (!isThere) next();
  });
  return router;
}
