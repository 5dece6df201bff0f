import type { PayableEntry } from '../page-data.js';
import { find } from './dom.js';

/** The receiving address. While the entry is unknown, shows only the parts that all entries share. */
export interface Receiver {
  show(entry: PayableEntry | undefined): void;
  /** Sets the chain families of the available wallets; the address is shown only for those. */
  families(usable: ReadonlySet<PayableEntry['family']>): void;
}

export function wireReceiver(entries: readonly PayableEntry[]): Receiver {
  const element = find('#pay-to');
  const initial = [...(element?.childNodes ?? [])];
  let entry: PayableEntry | undefined;
  let usable: ReadonlySet<PayableEntry['family']> = new Set();

  function show(): void {
    element?.replaceChildren(...initial);
    const family = entry?.family ?? (usable.size === 1 ? [...usable][0] : undefined);
    const isOtherFamily = family === undefined || (usable.size > 0 && !usable.has(family));
    const address = entries.find((one) => one.family === family)?.accepted.payTo;
    if (isOtherFamily || address === undefined) return;
    const code = document.createElement('code');
    code.dir = 'ltr';
    code.title = address;
    code.textContent = `${address.slice(0, 6)}…${address.slice(-6)}`;
    element?.replaceChildren(code);
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
