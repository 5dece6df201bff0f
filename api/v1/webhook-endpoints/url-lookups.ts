import { MAX_URL_LOOKUPS, MAX_URL_LOOKUPS_OF_ACCOUNT } from '../../../shared/limits/bounds.js';
import { openConcurrency } from '../../../shared/limits/concurrency.js';
import { type Resolve, resolveHost } from '../../../shared/values/public-address.js';

/**
 * Resolves names of webhook endpoints. Name servers that do not answer keep a look-up in flight for longer than its request
 * lasts: an account has a bounded number of look-ups in flight, and further ones wait for at most `waitMs`.
 */
export function openUrlLookups(
  waitMs: number,
  resolve: Resolve = resolveHost,
): (accountId: string) => Resolve {
  const slots = openConcurrency({ total: MAX_URL_LOOKUPS, perHolder: [MAX_URL_LOOKUPS_OF_ACCOUNT] });
  return (accountId) => async (hostname) => {
    const release = await slots.take(waitMs, accountId);
    if (release === undefined) throw new Error('too many look-ups are in flight');
    return await resolve(hostname).finally(release);
  };
}
