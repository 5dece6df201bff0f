import { formatsOf } from '../format.js';
import type { PayableEntry } from '../page-data.js';
import { fill, type ScriptWords } from '../words/words.js';
import { find } from './dom.js';

/** The select of tokens and networks, and the facts that follow it. */
export interface EntryChoice {
  shown(): PayableEntry;
  /** What the buyer chose themselves; undefined while we choose for them. */
  chosen(): PayableEntry | undefined;
  show(entry: PayableEntry): void;
  /** Beside each entry what the wallet holds of it. */
  showBalances(balances: ReadonlyMap<PayableEntry, bigint>): void;
}

export function wireEntryChoice(
  entries: readonly [PayableEntry, ...PayableEntry[]],
  language: string,
  words: ScriptWords,
  onChange: () => void,
): EntryChoice {
  const found = find('#entry');
  const select = found instanceof HTMLSelectElement ? found : undefined;
  let chosen: PayableEntry | undefined;
  const shown = (): PayableEntry => entries[select?.selectedIndex ?? 0] ?? entries[0];

  const showFacts = (): void => {
    const { amount, networkName, accepted } = shown();
    setText('#pay-amount', amount);
    setText('#pay-network', networkName);
    const address = find('#pay-to code');
    address?.setAttribute('title', accepted.payTo);
    setText('#pay-to code', `${accepted.payTo.slice(0, 6)}…${accepted.payTo.slice(-6)}`);
  };
  select?.addEventListener('change', () => {
    chosen = shown();
    showFacts();
    onChange();
  });

  return {
    shown,
    chosen: () => chosen,
    show(entry) {
      if (select !== undefined) select.selectedIndex = entries.indexOf(entry);
      showFacts();
    },
    showBalances(balances) {
      for (const [index, entry] of entries.entries()) {
        const option = select?.options[index];
        const balance = balances.get(entry);
        if (option === undefined) continue;
        const name = `${entry.token} · ${entry.networkName}`;
        option.textContent =
          balance === undefined
            ? name
            : `${name} (${fill(words.balance, { balance: formatsOf(language).tokens(balance.toString(), entry.decimals, '') })})`;
      }
    },
  };
}

export function formatBalance({ decimals, token }: PayableEntry, balance: bigint, language: string): string {
  return formatsOf(language).tokens(balance.toString(), decimals, token);
}

function setText(selector: string, text: string): void {
  const element = find(selector);
  if (element !== undefined) element.textContent = text;
}
