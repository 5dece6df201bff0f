import { type RequestHandler, Router } from 'express';
import type { Deps } from '../deps/deps.js';
import { setDocumentHeaders } from '../http/safe-headers.js';
import { requirePassword } from './credentials.js';
import { fromOwnPagesOnly } from './own-pages-only.js';
import { pausedBanner } from './paused-banner.js';
import { recordAction } from './record-action.js';

const QUEUES_PATH = '/queues';
const QUEUES_URL = '/admin/queues';

/** Pages for operators. Without ADMIN_PASSWORD they are not served. */
export function adminPages(deps: Deps, password: string): Router {
  const router = Router();
  router.use(requirePassword(password, deps.logger), ownHeaders);
  router.use(QUEUES_PATH, fromOwnPagesOnly, recordAction(deps), pausedBanner(deps), queueDashboard(deps));
  return router;
}

/** The dashboard needs inline styles and its own scripts; nothing from other origins. */
const OWN_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const ownHeaders: RequestHandler = (_req, res, next) => {
  setDocumentHeaders(res);
  res.setHeader('Content-Security-Policy', OWN_POLICY);
  next();
};

/** The dashboard is opened on the first visit: a queue cannot be opened while its store is unavailable. */
function queueDashboard({ queues, logger }: Deps): RequestHandler {
  let dashboard: RequestHandler | undefined;
  return async (req, res, next) => {
    try {
      dashboard ??= await openDashboard(await queues.open());
    } catch (error) {
      logger.warn({ event: 'admin.queues_unreadable', err: error });
      res
        .status(503)
        .type('text/plain')
        .send('The queue store does not answer. Try again when it is back.\n');
      return;
    }
    dashboard(req, res, next);
  };
}

async function openDashboard(queues: Awaited<ReturnType<Deps['queues']['open']>>): Promise<RequestHandler> {
  const { createBullBoard } = await import('@bull-board/api');
  const { BullMQAdapter } = await import('@bull-board/api/bullMQAdapter');
  const { ExpressAdapter } = await import('@bull-board/express');
  const serverAdapter = new ExpressAdapter();
  serverAdapter.setBasePath(QUEUES_URL);
  createBullBoard({ queues: queues.map((queue) => new BullMQAdapter(queue)), serverAdapter });
  return serverAdapter.getRouter();
}
