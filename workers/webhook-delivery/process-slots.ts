import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../shared/limits/bounds.js';
import type { Release } from '../../shared/limits/budget.js';
import { Tally } from '../../shared/limits/tally.js';
import type { SlotAllowance } from '../../shared/webhooks/slots.js';

/**
 * The delivery slots of one process, divided among accounts, and an account's slots among its hosts. An account has at most
 * as many slots as are free: one account alone has half of all slots, two accounts that want all have a third each, and the
 * next account always finds free slots. The slots of an account are divided among its hosts in the same way, so that a host
 * that hangs does not stop deliveries to the others. Hosts are counted per account: merchants may share a host, and none may
 * use up another's slots. The slots of an endpoint hold over all processes and are counted in Postgres.
 * A slot stands for a part of MAX_WEBHOOK_BYTES_IN_FLIGHT: a large body takes several slots.
 */
export interface ProcessSlots {
  readonly bytesPerSlot: number;
  /** The slots that this account may take now, at most `most`. */
  allowanceOf(accountId: string, most: number): SlotAllowance;
  /** Whether the account could start a try if one more slot were free. */
  couldUseOneMore(accountId: string): boolean;
  /** Takes the slots even when too few are free, since deliveries that are leased must be sent. `host` may not be known yet. */
  take(accountId: string, host: string | undefined, count: number): Release;
  /** The number of slots that a body of so many bytes takes. */
  slotsFor(bytes: number): number;
}

/** How many more slots a holder may take so that it has at most as many as are left free. */
function share(left: number, own: number): number {
  return Math.max(0, Math.ceil((left - own) / 2));
}

export function openProcessSlots(total: number): ProcessSlots {
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
    allowanceOf(accountId, most) {
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
