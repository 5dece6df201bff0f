import { formatsOf } from '../format.js';
import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { canPay, type Holdings, rankEntries } from './choose-entry.js';
import { find, findAll, make } from './dom.js';
import { type PaymentFacts, wirePaymentFacts } from './payment-facts.js';

/** The choice of token and network, and the facts of the chosen entry. */
export interface EntryChoice {
  /** The entry the buyer chose; undefined when the buyer chose none. */
  chosen(): PayableEntry | undefined;
  /** The entry that would be paid, chosen by the buyer or by balance; undefined when unknown. */
  current(): PayableEntry | undefined;
  /** Shows balances beside the rows; undefined clears them. */
  showHoldings(holdings: Holdings | undefined, fitting: readonly PayableEntry[]): void;
  facts: PaymentFacts;
}

/** More rows would push the button off the screen of a phone. */
const SHOWN_ROWS = 3;

export function wireEntryChoice(
  entries: readonly [PayableEntry, ...PayableEntry[]],
  language: string,
  words: ScriptWords,
  onChange: () => void,
): EntryChoice {
  const rows = findAll('#entries label');
  const boxes = rows.map((row) => row.querySelector('input') ?? make('input'));
  const summary = find('#other-entries > summary');
  const chooseWords = summary?.textContent ?? '';
  const facts = wirePaymentFacts(entries);
  let chosen: PayableEntry | undefined;
  let found: PayableEntry | undefined;
  let shown: readonly PayableEntry[] = [];
  const current = (): PayableEntry | undefined =>
    chosen ?? found ?? (entries.length === 1 ? entries[0] : undefined);

  /** Shows the payable rows and collapses the others. */
  function arrange(): void {
    const entry = current();
    const open = entry === undefined || shown.includes(entry) ? shown : [entry, ...shown];
    const rowsOf = (part: readonly PayableEntry[]) => part.flatMap((one) => rows[entries.indexOf(one)] ?? []);
    fold(rowsOf(open), rowsOf(entries.filter((one) => !open.includes(one))));
    for (const [index, box] of boxes.entries()) box.checked = entries[index] === entry;
    if (summary !== undefined) summary.textContent = open.length > 0 ? words.otherEntries : chooseWords;
    facts.show(entry);
  }

  function choose(index: number): void {
    chosen = entries[index];
    facts.show(chosen);
    onChange();
  }

  for (const [index, box] of boxes.entries()) box.addEventListener('change', () => choose(index));
  // When the list is collapsed, a chosen row must stay visible.
  find('#other-entries')?.addEventListener('toggle', ({ target }) => {
    if (target instanceof HTMLDetailsElement && !target.open) arrange();
  });
  arrange();
  return {
    chosen: () => chosen,
    current,
    facts,
    showHoldings(holdings, fitting) {
      const ranked = holdings === undefined ? [] : rankEntries(fitting, holdings);
      shown = ranked
        .filter((entry) => holdings !== undefined && canPay(entry, holdings) === 'yes')
        .slice(0, SHOWN_ROWS);
      // Only an entry with enough balance is preselected.
      [found] = shown;
      for (const [index, entry] of entries.entries()) {
        const held = rows[index]?.querySelector('.held');
        const balance = holdings?.balances.get(entry);
        const text = balance === undefined ? '' : `\u00a0· ${youHave(entry, balance, language, words)}`;
        if (held) held.textContent = text;
      }
      arrange();
    },
  };
}

/** Moves the rows between the two lists; the focused row keeps the focus. */
function fold(open: readonly HTMLElement[], folded: readonly HTMLElement[]): void {
  const focused = document.activeElement;
  find('#entries-shown')?.append(...open);
  find('#entries-folded')?.append(...folded);
  const others = find('#other-entries');
  if (others !== undefined) others.hidden = folded.length === 0;
  if (focused instanceof HTMLElement && focused !== document.activeElement) focused.focus();
}

function youHave(entry: PayableEntry, balance: bigint, language: string, words: ScriptWords): string {
  const text = formatsOf(language).tokens(balance.toString(), entry.decimals, '');
  return fill(words.balance, { balance: text });
}

export function formatBalance({ decimals, token }: PayableEntry, balance: bigint, language: string): string {
  return formatsOf(language).tokens(balance.toString(), decimals, token);
}
