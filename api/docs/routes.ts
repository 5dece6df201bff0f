import { type Response, Router } from 'express';
import { sharedDocument } from '../checkout-page/compressed.js';
import { setPageHeaders } from '../checkout-page/page-headers.js';
import type { Deps } from '../deps/deps.js';
import { readOnly } from '../errors/no-such-route.js';
import { wantsPage } from '../input/media-type.js';
import { sendErrorsPage } from './errors-page.js';
import { llmsText } from './llms-text.js';
import { listReferenceAssets, sendReferenceAsset } from './reference-assets.js';
import { renderReferencePage } from './reference-page.js';

/**
 * `/llms.txt` for agents, `/docs` for people, `/docs/errors` for both; `/` serves either of the first two,
 * depending on the Accept header.
 */
export function docs({ config, referenceFolder }: Deps): Router {
  const router = Router({ caseSensitive: true });
  const send = sharedDocument(() => llmsText(config.baseUrl));

  function sendText(res: Response): Promise<void> {
    res.setHeader('Content-Type', 'text/plain; charset=utf-8');
    res.setHeader('Vary', 'Accept, Accept-Encoding');
    return send(res);
  }

  async function sendPage(res: Response): Promise<void> {
    const page = renderReferencePage(await listReferenceAssets(referenceFolder));
    setPageHeaders(res, undefined);
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    res.setHeader('Cache-Control', 'no-cache');
    res.send(page);
  }

  router
    .route('/')
    .get(async (req, res) => {
      if (wantsPage(req)) await sendPage(res);
      else await sendText(res);
    })
    .all(readOnly);
  router
    .route('/llms.txt')
    .get((_req, res) => sendText(res))
    .all(readOnly);
  router
    .route('/docs')
    .get((_req, res) => sendPage(res))
    .all(readOnly);
  router
    .route('/docs/errors')
    .get((_req, res) => sendErrorsPage(res))
    .all(readOnly);
  router.get('/docs/assets/:name', async (req, res, next) => {
    const isThere = await sendReferenceAsset(res, referenceFolder, req.params.name);
    if (!isThere) next();
  });
  return router;
}
