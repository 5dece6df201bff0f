import type { RequestHandler } from 'express';
import type { Queues } from '../../shared/queues/enqueue.js';

/**
 * Names the paused queues at the top of the dashboard, whose own pages show a pause only on the page of its queue: while
 * settle-payment is paused, each payment waits for the sweep.
 */
export function pausedBanner({ queues }: { queues: Pick<Queues, 'depths'> }): RequestHandler {
  return async (req, res, next) => {
    const isPage =
      req.method === 'GET' && req.accepts('html') === 'html' && !/^\/(api|static)\//.test(req.path);
    const paused = isPage ? await pausedQueues(queues) : [];
    if (paused.length > 0) {
      const send = res.send.bind(res);
      res.send = (body) => send(typeof body === 'string' ? withBanner(body, paused) : body);
    }
    next();
  };
}

/** The dashboard itself says when the store does not answer. */
async function pausedQueues(queues: Pick<Queues, 'depths'>): Promise<string[]> {
  const depths = await queues.depths().catch(() => []);
  return depths.flatMap(({ queue, isPaused }) => (isPaused ? [queue] : []));
}

const STYLE = 'padding:12px 16px;background:#b42318;color:#fff;font:600 15px/1.4 system-ui,sans-serif';

function withBanner(page: string, paused: readonly string[]): string {
  const text = `Paused: ${paused.join(', ')}. Its work is done up to 15 seconds late. Resume it when you are done.`;
  return page.replace(/<body[^>]*>/, (body) => `${body}<div role="alert" style="${STYLE}">${text}</div>`);
}
