import { lruCache } from '../../shared/limits/lru-cache.js';
import type { TakenEndpoint } from '../../shared/webhooks/take-due.js';
import type { WorkerDeps } from '../deps/deps.js';

export type OpenSecrets = (endpoint: Pick<TakenEndpoint, 'id' | 'sealedSecrets'>) => string[] | Error;

/** Decrypting a secret takes as long as signing with it, so opened secrets are cached, at about 300 bytes each. */
const MOST_CACHED = 1000;

/** Returns the secrets newest first, or why the newest is unreadable; an unreadable previous secret is left out. */
export function secretOpener({ secretBox }: Pick<WorkerDeps, 'secretBox'>): OpenSecrets {
  const cache = lruCache<string>(MOST_CACHED);

  function open(sealed: string): string {
    const opened = cache.get(sealed) ?? secretBox.open(sealed);
    cache.set(sealed, opened);
    return opened;
  }

  return ({ sealedSecrets }) => {
    const opened = sealedSecrets.map((sealed) => {
      try {
        return open(sealed);
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    });
    const [newest = new Error('the endpoint has no secret')] = opened;
    return newest instanceof Error ? newest : opened.filter((secret) => typeof secret === 'string');
  };
}
