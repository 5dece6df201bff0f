import type { PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { fill } from '../words/words.js';
import { announce, button, make, sentence } from './dom.js';
import type { PageWallet } from './wallet.js';

/** The payment that is about to be signed, as far as known. */
export interface Signing {
  wallet: PageWallet;
  address: string | undefined;
  entry: PayableEntry | undefined;
  changeAccount(): void;
}

/** After this time without an answer, a hint says where to find the window of the wallet. */
const LOOK_FOR_WINDOW_MS = 15_000;

/** Stays visible until the wallet answers, so that the buyer can compare it with the window of the wallet. */
export function signingPanel(signing: Signing, words: ScriptWords): Node[] {
  const { wallet, address, entry, changeAccount } = signing;
  const rows: Node[] = [];
  if (address !== undefined) {
    rows.push(row(words.payingFrom, code(address), button(words.otherAccount, 'link', changeAccount)));
  }
  if (entry !== undefined) {
    const { accepted, amount, networkName } = entry;
    rows.push(
      row(words.youPay, make('strong', {}, amount)),
      row(words.network, networkName),
      row(words.goesTo, code(accepted.payTo)),
      row(words.inWallet, ...inWallet(entry, words)),
    );
  }
  return [make('dl', { class: 'facts signing' }, ...rows), lookForWindow(wallet, words)];
}

/** Tells the amount in the terms and units that the window of the wallet uses. */
function inWallet({ accepted, amount, family }: PayableEntry, words: ScriptWords): (Node | string)[] {
  const text = family === 'evm' ? words.inWalletEvm : words.inWalletSolana;
  return sentence(text, { units: accepted.amount, amount });
}

function row(term: string, ...value: (Node | string)[]): HTMLElement {
  return make('div', {}, make('dt', {}, term), make('dd', {}, ...value));
}

/** Splits an address in two halves, so that on two lines its last character does not stand alone on the second. */
function code(address: string): HTMLElement {
  const half = Math.ceil(address.length / 2);
  const parts = [address.slice(0, half), address.slice(half)].map((part) => make('span', {}, part));
  return make('code', { dir: 'ltr', class: 'address' }, ...parts);
}

function lookForWindow({ name }: PageWallet, words: ScriptWords): HTMLElement {
  const hint = make('p', { class: 'detail', hidden: '' }, ...sentence(words.noWindow, { wallet: name }));
  setTimeout(() => {
    if (!hint.isConnected) return;
    hint.hidden = false;
    announce(fill(words.noWindow, { wallet: name }));
  }, LOOK_FOR_WINDOW_MS);
  return hint;
}
