import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { button, make, sentence } from './dom.js';
import type { PageWallet } from './wallet.js';

interface WalletChoice {
  wallets: readonly PageWallet[];
  /** The wallet of the primary button; undefined when there is no wallet. */
  first: PageWallet | undefined;
  /** The entry that it would pay; undefined when unknown. */
  promised(wallet: PageWallet): PayableEntry | undefined;
  /** The amount that all entries share. */
  amountOfAll: string;
  /** Whether wallets of several families can pay, so that each shows its family. */
  isMixed: boolean;
}

/**
 * Shows a primary button for one wallet, and a list of the others. A button is replaced only when the wallets
 * change: a browser sends no click to a button that is replaced between press and release.
 */
export function createWalletList(words: ScriptWords, onChoose: (wallet: PageWallet) => void) {
  let shown: unknown[] = [];
  let label = make('span');

  return (place: HTMLElement, { wallets, first, promised, amountOfAll, isMixed }: WalletChoice): void => {
    const { amount = amountOfAll } = (first && promised(first)) ?? {};
    const text = first === undefined ? [] : sentence(words.payWith, { amount, wallet: first.name });
    const now = [isMixed, first, ...wallets];
    if (
      label.isConnected &&
      now.length === shown.length &&
      now.every((part, index) => part === shown[index])
    ) {
      label.replaceChildren(...text);
      return;
    }
    shown = now;
    const others = wallets.filter((wallet) => wallet !== first);
    const parts: Node[] = [];
    if (first !== undefined) {
      label = make('span', {}, ...text);
      const primary = button('', 'primary', () => onChoose(first));
      primary.append(...iconOf(first), label);
      parts.push(primary);
    }
    if (others.length > 0) {
      const rows = others.map((wallet) => row(wallet, isMixed, words, onChoose));
      parts.push(make('h3', {}, words.otherWallets), make('ul', { class: 'wallets' }, ...rows));
    }
    place.replaceChildren(...parts);
  };
}

function row(
  wallet: PageWallet,
  isMixed: boolean,
  words: ScriptWords,
  onChoose: (wallet: PageWallet) => void,
): HTMLElement {
  const choose = button('', 'wallet', () => onChoose(wallet));
  const family = wallet.family === 'svm' ? 'Solana' : words.families;
  choose.append(...iconOf(wallet), make('span', { class: 'wallet-name' }, make('bdi', {}, wallet.name)));
  if (isMixed) choose.append(' ', make('span', { class: 'family' }, family));
  return make('li', {}, choose);
}

function iconOf({ icon, name }: PageWallet): Node[] {
  if (icon !== undefined)
    return [make('img', { class: 'wallet-icon', alt: '', width: '32', height: '32', src: icon })];
  const [initial = '?'] = [...name];
  return [make('span', { class: 'wallet-icon initial', 'aria-hidden': 'true' }, initial)];
}
