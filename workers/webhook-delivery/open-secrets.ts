import { LRUCache } from 'lru-cache';
import type { TakenEndpoint } from '../../shared/webhooks/take-due.js';
import type { WorkerDeps } from '../deps/deps.js';

export type OpenSecrets = (endpoint: Pick<TakenEndpoint, 'id' | 'sealedSecrets'>) => string[] | undefined;

/** Opening one takes as long as signing with it: so many are kept, of some 300 bytes each. */
const MOST_KEPT = 1000;

/** The newest first. Without that one there is nothing to sign with; one before it is done without. */
export function secretOpener({ secretBox, logger }: Pick<WorkerDeps, 'secretBox' | 'logger'>): OpenSecrets {
  const kept = new LRUCache<string, string>({ max: MOST_KEPT });

  function open(sealed: string): string {
    const opened = kept.get(sealed) ?? secretBox.open(sealed);
    kept.set(sealed, opened);
    return opened;
  }

  return ({ id, sealedSecrets }) => {
    const opened = sealedSecrets.map((sealed) => {
      try {
        return open(sealed);
      } catch (error) {
        logger.error({ event: 'webhook_secret.unreadable', endpoint: id, err: error });
        return undefined;
      }
    });
    return opened[0] === undefined ? undefined : opened.filter((secret) => secret !== undefined);
  };
}
