import { formatsOf } from '../format.js';
import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { canPay, type Holdings, type Most, mostWhenNowhere, rankEntries } from './choose-entry.js';
import { find, findAll, make } from './dom.js';
import { type Receiver, wireReceiver } from './receiver.js';

/** The choice of token and network, and the line that it opens from. */
export interface EntryChoice {
  /** The entry the buyer chose; undefined when the buyer chose none. */
  chosen(): PayableEntry | undefined;
  /** The entry that would be paid, chosen by the buyer or by balance; undefined when unknown. */
  current(): PayableEntry | undefined;
  /** Shows balances beside the rows; undefined clears them. */
  showHoldings(holdings: Holdings | undefined, fitting: readonly PayableEntry[]): void;
  /** While a wallet is asked, nothing can be chosen. */
  allow(isAllowed: boolean): void;
  receiver: Receiver;
}

/**
 * Balances change texts and marks only: no row moves while the list is open, and the line keeps its height, so that nothing
 * comes to lie under the buyer's finger.
 */
export function wireEntryChoice(
  entries: readonly [PayableEntry, ...PayableEntry[]],
  language: string,
  words: ScriptWords,
  onChange: () => void,
): EntryChoice {
  const list = find('#entries');
  const details = find('#accepts');
  const rows = findAll('#entries label');
  const boxes = rows.map((row) => row.querySelector('input') ?? make('input'));
  const showLine = wireLine(rows);
  const receiver = wireReceiver(entries);
  let chosen: PayableEntry | undefined;
  let found: PayableEntry | undefined;
  let holdings: Holdings | undefined;
  let most: Most | undefined;
  let order: readonly PayableEntry[] = entries;
  const current = (): PayableEntry | undefined =>
    chosen ?? found ?? (entries.length === 1 ? entries[0] : undefined);

  function show(): void {
    const entry = current();
    for (const [index, box] of boxes.entries()) box.checked = entries[index] === entry;
    receiver.show(entry);
    const balance = entry && holdings?.balances.get(entry);
    const held = entry && balance !== undefined ? youHave(entry, balance, language, words) : '';
    if (entry === undefined && most !== undefined) showLine({ note: nowhereText(most, language, words) });
    else if (entry === undefined) showLine(undefined);
    else {
      const { token, networkName: network } = entry;
      showLine({ row: entries.indexOf(entry), named: fill(words.tokenOn, { token, network }), held });
    }
  }

  function arrange(): void {
    if (details instanceof HTMLDetailsElement && details.open) return;
    for (const entry of order) {
      const row = rows[entries.indexOf(entry)];
      if (row !== undefined) list?.append(row);
    }
  }

  for (const [index, box] of boxes.entries()) {
    box.addEventListener('change', () => {
      chosen = entries[index];
      show();
      onChange();
    });
  }
  details?.addEventListener('toggle', arrange);
  list?.removeAttribute('disabled');
  show();
  return {
    chosen: () => chosen,
    current,
    receiver,
    allow: (isAllowed) => list?.toggleAttribute('disabled', !isAllowed),
    showHoldings(next, fitting) {
      holdings = next;
      most = next && mostWhenNowhere(fitting, next);
      const ranked = next === undefined ? entries : rankEntries(fitting, next);
      // Only an entry with enough balance is preselected.
      [found] = next === undefined ? [] : ranked.filter((entry) => canPay(entry, next) === 'yes');
      order = [...ranked, ...entries.filter((entry) => !ranked.includes(entry))];
      for (const [index, entry] of entries.entries()) {
        const held = rows[index]?.querySelector('.held');
        const balance = next?.balances.get(entry);
        if (held) held.textContent = balance === undefined ? '' : youHave(entry, balance, language, words);
      }
      arrange();
      show();
    },
  };
}

type Line = { note: string } | { row: number; named: string; held: string };

/** Shows an entry with its marks, or a note, or the server's own rendering. */
function wireLine(rows: readonly HTMLElement[]): (line: Line | undefined) => void {
  const frame = find('#accepts > summary') ?? find('#accepts');
  const marks = find('#accepts .marks');
  const text = find('#accepted');
  const initialMarks = [...(marks?.childNodes ?? [])];
  const initialText = [...(text?.childNodes ?? [])];
  return (line) => {
    if (frame?.style.minHeight === '') frame.style.minHeight = `${frame.getBoundingClientRect().height}px`;
    text?.classList.toggle('tight', line !== undefined && 'note' in line);
    if (line === undefined) {
      marks?.replaceChildren(...initialMarks);
      text?.replaceChildren(...initialText);
    } else if ('note' in line) {
      marks?.replaceChildren();
      text?.replaceChildren(line.note);
    } else {
      const own = rows[line.row]?.querySelector('.marks')?.childNodes ?? initialMarks;
      marks?.replaceChildren(...[...own].map((node) => node.cloneNode(true)));
      const dot = make('span', { class: 'visually-hidden' }, ' · ');
      text?.replaceChildren(
        make('span', {}, line.named),
        ...(line.held === '' ? [] : [dot, make('small', {}, line.held)]),
      );
    }
  };
}

function nowhereText({ entry, balance, networks }: Most, language: string, words: ScriptWords): string {
  return fill(words.enoughNowhere, {
    count: formatsOf(language).count(networks),
    balance: formatBalance(entry, balance, language),
    network: entry.networkName,
  });
}

function youHave(entry: PayableEntry, balance: bigint, language: string, words: ScriptWords): string {
  const text = formatsOf(language).tokens(balance.toString(), entry.decimals, '');
  return fill(words.balance, { balance: text });
}

export function formatBalance({ decimals, token }: PayableEntry, balance: bigint, language: string): string {
  return formatsOf(language).tokens(balance.toString(), decimals, token);
}
