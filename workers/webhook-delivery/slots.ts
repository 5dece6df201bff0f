import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../shared/limits/bounds.js';
import type { Release } from '../../shared/limits/budget.js';
import { Tally } from '../../shared/limits/tally.js';
import type { Room } from '../../shared/webhooks/deal-slots.js';

/**
 * The delivery slots of one process, divided among accounts, and an account's among its hosts. An account uses at most the
 * slots that are free, a host at most what its account could still use. So one account alone has half of all slots, two that
 * want all have a third each, and there is room for the next; a host that hangs leaves its account the same. The limit of an
 * endpoint holds over all processes and is counted in Postgres.
 * A slot stands for a part of the bytes that may be in flight: a heavy body takes several.
 * A host's limit is within one account: merchants share hosts, and none may use up another's slots.
 */
export interface Slots {
  readonly bytesPerSlot: number;
  /** The slots that this account may take now, at most so many. */
  roomOf(accountId: string, most: number): Room;
  /** Whether the account could start a try if one more slot were free. */
  couldUseOneMore(accountId: string): boolean;
  /** Takes the slots even where so many are not free: what Postgres has leased is sent. Without a host while that is not known. */
  take(accountId: string, host: string | undefined, count: number): Release;
  /** How many slots a body of so many bytes takes. */
  slotsFor(bytes: number): number;
}

/** How many more a holder may start while it has no more in flight than are left for others. */
function share(left: number, own: number): number {
  return Math.max(0, Math.ceil((left - own) / 2));
}

export function openSlots(total: number): Slots {
  const bytesPerSlot = Math.ceil(MAX_WEBHOOK_BYTES_IN_FLIGHT / total);
  const accounts = new Tally();
  const hostsOf = new Map<string, Tally>();

  const free = (): number => total - accounts.sum;

  function add(accountId: string, host: string | undefined, count: number): void {
    accounts.add(accountId, count);
    if (host === undefined) return;
    const hosts = hostsOf.get(accountId) ?? new Tally();
    hosts.add(host, count);
    if (hosts.sum === 0) hostsOf.delete(accountId);
    else hostsOf.set(accountId, hosts);
  }

  return {
    bytesPerSlot,
    roomOf(accountId, most) {
      const hosts = hostsOf.get(accountId);
      const ofAccount = share(free(), accounts.of(accountId));
      const ofHost = (host: string): number => share(ofAccount, hosts?.of(host) ?? 0);
      const fullHosts = (hosts?.holders() ?? []).filter((host) => ofHost(host) === 0);
      return { slots: Math.min(ofAccount, most), ofHost, fullHosts, bytesPerSlot };
    },
    couldUseOneMore: (accountId) => share(free() + 1, accounts.of(accountId)) > 0,
    take(accountId, host, count) {
      let isTaken = true;
      add(accountId, host, count);
      return () => {
        if (isTaken) add(accountId, host, -count);
        isTaken = false;
      };
    },
    slotsFor: (bytes) => Math.max(1, Math.ceil(bytes / bytesPerSlot)),
  };
}
