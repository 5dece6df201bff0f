import type { PayableEntry } from '../page-data.js';
import { find } from './dom.js';

/** Amount, network and receiver. While the entry is unknown, shows only what all entries have in common. */
export interface PaymentFacts {
  show(entry: PayableEntry | undefined): void;
  /** Sets the chain families of the available wallets; the receiver is shown only for those. */
  families(usable: ReadonlySet<PayableEntry['family']>): void;
}

export function wirePaymentFacts(entries: readonly PayableEntry[]): PaymentFacts {
  const parts = ['#pay-amount', '#pay-network', '#pay-to'].map(find);
  const initialNodes = parts.map((part) => part?.cloneNode(true).childNodes);
  const [amount, network, receiver] = parts;
  let entry: PayableEntry | undefined;
  let usable: ReadonlySet<PayableEntry['family']> = new Set();

  function show(): void {
    for (const [index, part] of parts.entries()) {
      part?.replaceChildren(...[...(initialNodes[index] ?? [])].map((node) => node.cloneNode(true)));
    }
    if (entry !== undefined) {
      amount?.replaceChildren(entry.amount);
      network?.replaceChildren(entry.networkName);
    }
    const family = entry?.family ?? (usable.size === 1 ? [...usable][0] : undefined);
    const isOtherFamily = family === undefined || (usable.size > 0 && !usable.has(family));
    const address = entries.find((one) => one.family === family)?.accepted.payTo;
    if (isOtherFamily || address === undefined || receiver === undefined) return;
    const code = document.createElement('code');
    code.dir = 'ltr';
    code.title = address;
    code.textContent = `${address.slice(0, 6)}…${address.slice(-6)}`;
    receiver.replaceChildren(code);
  }

  return {
    show(next) {
      entry = next;
      show();
    },
    families(next) {
      usable = next;
      show();
    },
  };
}
