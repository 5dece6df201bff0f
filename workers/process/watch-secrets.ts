import type { Closable } from '../../shared/process/shutdown.js';
import { releaseReadable } from '../../shared/webhooks/unreadable.js';
import type { WorkerDeps } from '../deps/deps.js';

const INTERVAL_MS = 15_000;

/** Looks, at the start and regularly, for endpoints that were unreadable and whose secret this process opens. */
export function watchSecrets({
  db,
  secretBox,
  logger,
  notifyDeliveries,
}: Pick<WorkerDeps, 'db' | 'secretBox' | 'logger' | 'notifyDeliveries'>): Closable {
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = look();

  async function look(): Promise<void> {
    try {
      for (const { id, accountId } of await releaseReadable(db, secretBox)) {
        logger.info({ event: 'webhook_secret.readable', endpoint: id });
        notifyDeliveries({ eventId: `readable-${id}`, accountIds: [accountId] });
      }
    } catch {
      // Postgres is away, which is reported elsewhere; the next round looks again.
    }
    if (isClosed) return;
    timer = setTimeout(() => {
      looking = look();
    }, INTERVAL_MS);
    timer.unref();
  }

  return {
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
