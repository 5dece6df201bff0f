import dns, { type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * The look-ups in flight, one at a time for each name: a look-up takes one of the two threads that libuv has for look-ups
 * until its name servers answer, and all other names wait for them.
 */
const asking = new Map<string, Promise<LookupAddress[]>>();

export const lookupOnce: LookupFunction = (hostname, options, callback) => {
  const { all, ...wanted } = options;
  const key = JSON.stringify([hostname, wanted]);
  const asked =
    asking.get(key) ??
    new Promise<LookupAddress[]>((resolve, reject) => {
      dns.lookup(hostname, { ...wanted, all: true }, (error, found) =>
        error ? reject(error) : resolve(found),
      );
    }).finally(() => asking.delete(key));
  asking.set(key, asked);
  asked.then(
    (found) => (all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)),
    (error: NodeJS.ErrnoException) => callback(error, []),
  );
};
