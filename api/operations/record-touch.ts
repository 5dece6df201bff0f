import type { Request, RequestHandler } from 'express';
import { type NewOperatorAction, recordOperatorAction } from '../../shared/accounts/operator-actions.js';
import type { Deps } from '../deps/deps.js';
import { ADMIN_USER } from './credentials.js';
import { isLooking } from './own-pages-only.js';

/** What the dashboard does to one job; else it does something to a queue. */
const TO_A_JOB =
  /^\/api\/queues\/([^/]+\/[^/]+)\/(retry|clean|promote|update-data|delay|priority|remove-\w+)/;
const TO_A_QUEUE = /^\/api\/queues\/([^/]+)\//;

/**
 * Each touch of a queue or a job leaves a row before it is let through, and is refused when the row can't be written:
 * what became of the job may be lost with Redis, who touched it may not.
 */
export function recordTouch({ db, logger }: Pick<Deps, 'db' | 'logger'>): RequestHandler {
  return async (req, res, next) => {
    if (isLooking(req)) return next();
    try {
      await recordOperatorAction(db, touchOf(req));
    } catch (error) {
      logger.warn({ event: 'admin.touch_not_recorded', err: error });
      res
        .status(503)
        .type('text/plain')
        .send('This cannot be written down, so it was not done. Try again.\n');
      return;
    }
    next();
  };
}

/** Not its body, in which anything may be. */
function touchOf({ method, path, ip }: Request): NewOperatorAction {
  const [, about] = TO_A_JOB.exec(path) ?? TO_A_QUEUE.exec(path) ?? [];
  return {
    who: `${ADMIN_USER}@dashboard`,
    what: `${method} ${path}`,
    about,
    arguments: ip === undefined ? {} : { from: ip },
  };
}
