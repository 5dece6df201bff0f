import type { Request, RequestHandler } from 'express';
import { type NewOperatorAction, recordOperatorAction } from '../../shared/accounts/operator-actions.js';
import type { Deps } from '../deps/deps.js';
import { ADMIN_USER } from './credentials.js';
import { isRead } from './own-pages-only.js';

/** Dashboard requests that change one job; the others change a queue. */
const JOB_PATH =
  /^\/api\/queues\/([^/]+\/[^/]+)\/(retry|clean|promote|update-data|delay|priority|remove-\w+)/;
const QUEUE_PATH = /^\/api\/queues\/([^/]+)\//;

/**
 * Writes an audit row before a change to a queue or job is let through, and refuses the change when the row cannot
 * be written. Redis may lose the job; the audit row stays in Postgres.
 */
export function recordAction({ db, logger }: Pick<Deps, 'db' | 'logger'>): RequestHandler {
  return async (req, res, next) => {
    if (isRead(req)) return next();
    try {
      await recordOperatorAction(db, actionOf(req));
    } catch (error) {
      logger.warn({ event: 'admin.touch_not_recorded', err: error });
      res
        .status(503)
        .type('text/plain')
        .send('This action could not be recorded, so it was not carried out. Try again.\n');
      return;
    }
    next();
  };
}

/** The body is not recorded: it may hold anything. */
function actionOf({ method, path, ip }: Request): NewOperatorAction {
  const [, about] = JOB_PATH.exec(path) ?? QUEUE_PATH.exec(path) ?? [];
  return {
    who: `${ADMIN_USER}@dashboard`,
    what: `${method} ${path}`,
    about,
    arguments: ip === undefined ? {} : { from: ip },
  };
}
