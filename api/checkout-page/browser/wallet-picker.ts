import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { find, make } from './dom.js';
import type { EntryChoice } from './entry-choice.js';
import { isRefused, lastWallet } from './memory.js';
import type { PageWallet } from './wallet.js';
import { createWalletList } from './wallet-list.js';

/** The wallets that can pay the chosen entry. */
export interface WalletPicker {
  show(): void;
  add(wallet: PageWallet): void;
}

interface PickerParts {
  entries: readonly PayableEntry[];
  choice: EntryChoice;
  /** Found so far; `add` appends to it. */
  wallets: PageWallet[];
  words: ScriptWords;
  /** True when no wallet is being asked. */
  isIdle(): boolean;
  /** The entry that this wallet would pay; undefined when unknown. */
  promised(wallet: PageWallet): PayableEntry | undefined;
  onPick(wallet: PageWallet): void;
  /** Called when the last used wallet is found. */
  onReturn(wallet: PageWallet): void;
}

/** How long to wait for wallets before showing the alternatives. */
const WALLETS_MS = 400;

export function wireWalletPicker(parts: PickerParts): WalletPicker {
  const { entries, choice, wallets, words, isIdle, promised, onPick, onReturn } = parts;
  const amountOfAll = find('#wallets')?.dataset.amount ?? '';
  const showList = createWalletList(words, onPick);
  const lastAtStart = lastWallet();
  let isWaiting = lastAtStart !== undefined;
  /** The wallet of the large button, which stays in its place when more wallets are found. */
  let firstShown: string | undefined;

  function show(): void {
    // A returning buyer sees the last used wallet first, and no other wallet in its place before.
    const last = lastWallet();
    if (isWaiting && !wallets.some(({ key }) => key === last)) return;
    const chosen = choice.chosen();
    const families = new Set((chosen === undefined ? entries : [chosen]).map(({ family }) => family));
    const fitting = wallets.filter(({ family }) => families.has(family));
    const usable = fitting.filter(({ key }) => !isRefused(key));
    const preferred = usable.find(({ key }) => key === (last === lastAtStart ? (firstShown ?? last) : last));
    const first = preferred ?? usable[0];
    firstShown = first?.key;
    if (first === undefined && fitting.length > 0) openWays();
    const isMixed = families.size > 1;
    const offered = wallets.filter(({ family }) => entries.some((entry) => entry.family === family));
    choice.receiver.families(new Set(offered.map(({ family }) => family)));
    const place = find('#wallets');
    if (place === undefined) return;
    place.classList.remove('none');
    showList(place, { wallets: fitting, first, promised, amountOfAll, isMixed });
  }

  setTimeout(() => {
    isWaiting = false;
    if (wallets.length === 0) showOtherWays(words);
    else if (isIdle()) show();
  }, WALLETS_MS);
  return {
    show,
    add(wallet) {
      if (!wallets.includes(wallet)) wallets.push(wallet);
      if (isIdle()) show();
      if (wallet.key === lastWallet()) onReturn(wallet);
    },
  };
}

function openWays(): boolean {
  const ways = find('#ways');
  if (ways instanceof HTMLDetailsElement) ways.open = true;
  return ways !== undefined;
}

function showOtherWays(words: ScriptWords): void {
  if (!openWays()) return;
  const wallets = find('#wallets');
  wallets?.replaceChildren(make('p', { class: 'notice none' }, words.noneFound));
  wallets?.classList.add('none');
}
