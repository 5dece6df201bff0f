import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../shared/limits/bounds.js';
import type { Room } from '../../shared/webhooks/deal-places.js';

/**
 * What a process may have on its way, divided: a place belongs to an account first, then to a host. Nobody may have more
 * than is left for those who come: an account as many places as are free, a host of it as many as its account could still
 * have. So alone an account has half of all, two that want all have a third each, and there is room for the next; a host
 * that hangs leaves its account the same. How many an endpoint may have holds over all processes, and is counted in
 * Postgres.
 * A place is for a part of the bytes that may be in hand: a heavy body takes several.
 * The bound of a host is its account's own: merchants share hosts, and none may use up another's.
 */
export interface Places {
  readonly bytesOfOne: number;
  /** What this account may begin now, at most so many. */
  roomOf(accountId: string, most: number): Room;
  /** There would be room for it if one more were free. */
  couldUseOneMore(accountId: string): boolean;
  /** Without a host while it is not known who will have them. It gives what gives them back. */
  hold(accountId: string, host: string | undefined, count: number): () => void;
  /** Of a body of so many bytes. */
  weightOf(bytes: number): number;
}

interface Held {
  count: number;
  ofHosts: Map<string, number>;
}

export function openPlaces(total: number): Places {
  const bytesOfOne = Math.ceil(MAX_WEBHOOK_BYTES_IN_FLIGHT / total);
  const held = new Map<string, Held>();
  let free = total;

  /** How many more may begin while there are no more of them than are left. */
  function room(left: number, own: number): number {
    return Math.max(0, Math.ceil((left - own) / 2));
  }

  function add(accountId: string, host: string | undefined, count: number): void {
    const own = held.get(accountId) ?? { count: 0, ofHosts: new Map<string, number>() };
    free -= count;
    own.count += count;
    if (host !== undefined) {
      const ofHost = (own.ofHosts.get(host) ?? 0) + count;
      if (ofHost === 0) own.ofHosts.delete(host);
      else own.ofHosts.set(host, ofHost);
    }
    if (own.count === 0) held.delete(accountId);
    else held.set(accountId, own);
  }

  return {
    bytesOfOne,
    roomOf(accountId, most) {
      const { count, ofHosts } = held.get(accountId) ?? { count: 0, ofHosts: new Map<string, number>() };
      const ofAccount = room(free, count);
      const ofHost = (host: string): number => room(ofAccount, ofHosts.get(host) ?? 0);
      const fullHosts = [...ofHosts.keys()].filter((host) => ofHost(host) === 0);
      return { places: Math.min(ofAccount, most), ofHost, fullHosts, bytesOfOne };
    },
    couldUseOneMore: (accountId) => room(free + 1, held.get(accountId)?.count ?? 0) > 0,
    hold(accountId, host, count) {
      add(accountId, host, count);
      return () => add(accountId, host, -count);
    },
    weightOf: (bytes) => Math.max(1, Math.ceil(bytes / bytesOfOne)),
  };
}
