import type { RequestHandler } from 'express';
import { lruCache } from '../../../shared/limits/lru-cache.js';
import { isIdShaped } from '../../../shared/values/ids.js';
import type { Deps } from '../../deps/deps.js';
import { onClose } from '../../http/on-close.js';

/** A scanner of links could otherwise fill the log. */
const LINES_PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/**
 * While Postgres may have lost commits, logs the links that it does not know: their buyers may have paid. One line for each
 * link, with an upper limit.
 */
export function logUnknownLinks({ commits, logger }: Pick<Deps, 'commits' | 'logger'>): RequestHandler<{
  id: string;
}> {
  const logged = lruCache<true>(1000);
  let lines = 0;
  let minuteEndsAt = 0;

  function log(session: string): void {
    if (!commits.mayHaveLost() || logged.has(session)) return;
    if (performance.now() >= minuteEndsAt) {
      minuteEndsAt = performance.now() + MINUTE_MS;
      lines = 0;
    }
    lines += 1;
    if (lines > LINES_PER_MINUTE) return;
    logged.set(session, true);
    logger.warn({ event: 'link.unknown_after_lost_commits', session });
  }

  return ({ params: { id } }, res, next) => {
    // The first statement on a new connection may find out about the loss, so this is asked when the answer is sent.
    if (isIdShaped(id))
      onClose(res, () => {
        if (res.locals.errorCode === 'resource_missing') log(id);
      });
    next();
  };
}
