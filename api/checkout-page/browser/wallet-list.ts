import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { button, make, sentence } from './dom.js';
import type { PageWallet } from './wallet.js';

interface WalletChoice {
  wallets: readonly PageWallet[];
  /** The one used last, when it is there. */
  preferred: PageWallet | undefined;
  /** What it would pay; undefined while nobody knows. */
  promised(wallet: PageWallet): PayableEntry | undefined;
  /** What is paid in any case. */
  amountOfAll: string;
  /** Whether wallets of several families are of use here, so that a wallet's family is worth telling. */
  isMixed: boolean;
  words: ScriptWords;
  onChoose(wallet: PageWallet): void;
}

/** One obvious next step when there is one: the last wallet, or the only one. */
export function walletList(shown: WalletChoice): Node[] {
  const { wallets, preferred, promised, amountOfAll, isMixed, words, onChoose } = shown;
  const first = preferred ?? (wallets.length === 1 ? wallets[0] : undefined);
  const others = wallets.filter((wallet) => wallet !== first);
  const parts: Node[] = [];
  if (first !== undefined) {
    const { amount = amountOfAll, networkName } = promised(first) ?? {};
    const text = networkName === undefined ? words.payWith : words.payOn;
    const label = sentence(text, { amount, network: networkName ?? '', wallet: first.name });
    const primary = button('', 'primary', () => onChoose(first));
    primary.append(...look(first), make('span', {}, ...label));
    parts.push(primary);
  }
  if (others.length > 0) {
    parts.push(make('h3', {}, first === undefined ? words.choosing : words.otherWallets));
    parts.push(
      make('ul', { class: 'wallets' }, ...others.map((wallet) => row(wallet, isMixed, words, onChoose))),
    );
  }
  return parts;
}

function row(
  wallet: PageWallet,
  isMixed: boolean,
  words: ScriptWords,
  onChoose: (wallet: PageWallet) => void,
): HTMLElement {
  const choose = button('', 'wallet', () => onChoose(wallet));
  const family = wallet.family === 'svm' ? 'Solana' : words.families;
  choose.append(...look(wallet), make('span', { class: 'wallet-name' }, make('bdi', {}, wallet.name)));
  if (isMixed) choose.append(' ', make('span', { class: 'family' }, family));
  return make('li', {}, choose);
}

function look({ icon, name }: PageWallet): Node[] {
  if (icon === undefined) {
    const [initial = '?'] = [...name];
    return [make('span', { class: 'wallet-icon initial', 'aria-hidden': 'true' }, initial)];
  }
  const image = make('img', { class: 'wallet-icon', alt: '', width: '32', height: '32' });
  image.src = icon;
  return [image];
}
