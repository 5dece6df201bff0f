import { formatsOf } from '../format.js';
import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { canPay, type Holdings, rankEntries } from './choose-entry.js';
import { find, findAll, make } from './dom.js';
import { type PaymentFacts, wirePaymentFacts } from './payment-facts.js';

/** The rows of tokens and networks, and the facts that follow the one that is chosen. */
export interface EntryChoice {
  /** What the buyer chose themselves; undefined while we choose for them. */
  chosen(): PayableEntry | undefined;
  /** What would be paid, chosen by the buyer or found in the account; undefined while nobody knows. */
  current(): PayableEntry | undefined;
  /** What the account holds, beside each row; undefined when there is none any more. */
  showHoldings(holdings: Holdings | undefined, fitting: readonly PayableEntry[]): void;
  facts: PaymentFacts;
}

/** More than these would push the button off a phone's screen. */
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

  /** The rows that can pay stand in the open, the others are folded away. */
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
  // A row that was chosen in there must not go out of sight.
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
      // What may not be enough is not promised.
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

/** Moves rows into the open and among the others; the one with the focus keeps it. */
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
