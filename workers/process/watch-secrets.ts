import type { Closable } from '../../shared/process/shutdown.js';
import { releaseReadable } from '../../shared/webhooks/unreadable-secrets.js';
import type { WorkerDeps } from '../deps/deps.js';
import { regularly, soon } from './regularly.js';

const INTERVAL_MS = 15_000;

/** Releases, at the start and regularly, the endpoints that were unreadable and whose secret this process opens. */
export function watchSecrets({
  db,
  secretBox,
  logger,
  notifyDeliveries,
}: Pick<WorkerDeps, 'db' | 'secretBox' | 'logger' | 'notifyDeliveries'>): Closable {
  const release = async (): Promise<void> => {
    try {
      for (const { id, accountId } of await releaseReadable(db, secretBox)) {
        logger.info({ event: 'webhook_secret.readable', endpoint: id });
        notifyDeliveries({ eventId: `readable-${id}`, accountIds: [accountId] });
      }
    } catch {
      // Postgres is unavailable, which is reported elsewhere; the next round tries again.
    }
  };
  return regularly(release, () => INTERVAL_MS, soon());
}
