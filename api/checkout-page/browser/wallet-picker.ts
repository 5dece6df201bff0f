import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/words.js';
import { chooseEntry } from './choose-entry.js';
import { find, make } from './dom.js';
import type { EntryChoice } from './entry-choice.js';
import { lastWallet } from './memory.js';
import type { PageWallet } from './wallet.js';
import { walletList } from './wallet-list.js';

/** The wallets that can pay what is chosen, as they are found. */
export interface WalletPicker {
  show(): void;
  add(wallet: PageWallet): void;
}

interface PickerParts {
  entries: readonly PayableEntry[];
  choice: EntryChoice;
  /** Those that were found before, to which later ones are added. */
  wallets: PageWallet[];
  words: ScriptWords;
  /** Whether no wallet is being asked. */
  isIdle(): boolean;
  onPick(wallet: PageWallet): void;
}

/** How long wallets may take to announce themselves before it is said what to do without one. */
const WALLETS_MS = 400;

export function wireWalletPicker({
  entries,
  choice,
  wallets,
  words,
  isIdle,
  onPick,
}: PickerParts): WalletPicker {
  function show(): void {
    const chosen = choice.chosen();
    const families = new Set((chosen === undefined ? entries : [chosen]).map(({ family }) => family));
    const fitting = wallets.filter(({ family }) => families.has(family));
    const preferred = fitting.find(({ key }) => key === lastWallet());
    const isMixed = families.size > 1;
    find('#wallets')?.replaceChildren(
      ...walletList({ wallets: fitting, preferred, entryFor, isMixed, words, onChoose: onPick }),
    );
  }

  function entryFor({ family }: PageWallet): PayableEntry {
    const shown = choice.shown();
    return shown.family === family ? shown : (entries.find((entry) => entry.family === family) ?? shown);
  }

  /** The last wallet, if it lets us without asking the buyer: what it can pay is chosen before anyone clicks. */
  async function prepare(wallet: PageWallet): Promise<void> {
    try {
      const address = await wallet.connect('silently');
      if (address === undefined) return;
      const fitting = entries.filter(({ family }) => family === wallet.family);
      const balances = await wallet.balances(address, fitting);
      if (!isIdle()) return;
      choice.showBalances(balances);
      const best = chooseEntry(fitting, balances);
      if (choice.chosen() === undefined && best !== undefined) choice.show(best);
      show();
    } catch {
      // Then it is asked when the buyer pays.
    }
  }

  setTimeout(() => {
    if (wallets.length === 0) showOtherWays(words);
  }, WALLETS_MS);
  return {
    show,
    add(wallet) {
      if (!wallets.includes(wallet)) wallets.push(wallet);
      if (isIdle()) show();
      if (wallet.key === lastWallet()) void prepare(wallet);
    },
  };
}

function showOtherWays(words: ScriptWords): void {
  const ways = find('#ways');
  if (!(ways instanceof HTMLDetailsElement)) return;
  ways.open = true;
  find('#wallets')?.replaceChildren(make('p', { class: 'notice' }, words.noneFound));
}
