import { failureWord } from '../failure-words.js';
import type { PageData, PayableEntry } from '../page-data.js';
import type { ScriptWords } from '../words/words.js';
import { type AttemptView, type Step, signWith } from './attempt.js';
import { chooseEntry } from './choose-entry.js';
import { find, make } from './dom.js';
import { type EntryChoice, formatBalance, wireEntryChoice } from './entry-choice.js';
import { type KeptPayment, lastWallet, rememberWallet } from './memory.js';
import { type Outcome, sendPayment } from './send-payment.js';
import { clearNotice, hideStep, type Notice, showNotice, showStep } from './steps.js';
import { type PageWallet, WalletProblem } from './wallet.js';
import { walletList } from './wallet-list.js';

/** The open panel: which wallets there are, what was chosen, and the one attempt that may be under way. */
export interface Checkout {
  addWallet(wallet: PageWallet): void;
  /** Goes on with a payment that an earlier life of this page has signed. */
  resume(payment: KeptPayment): void;
  /** `signing` can be given up; what is `sent` cannot. */
  stage(): 'idle' | 'signing' | 'sent';
  /** The session is no longer open. */
  end(): void;
}

interface CheckoutEvents {
  /** The service has the payment, or has had another one. */
  onOutcome(outcome: Outcome): void;
}

/** How long wallets may take to announce themselves before it is said what to do without one. */
const WALLETS_MS = 400;

export function openCheckout(
  data: PageData,
  entries: readonly [PayableEntry, ...PayableEntry[]],
  wallets: PageWallet[],
  events: CheckoutEvents,
): Checkout {
  const { words, language, path, sessionId } = data;
  let attempt: AbortController | undefined;
  let stage: ReturnType<Checkout['stage']> = 'idle';
  const choice: EntryChoice = wireEntryChoice(entries, language, words, () => {
    clearNotice();
    list();
  });

  function list(): void {
    const chosen = choice.chosen();
    const families = new Set((chosen === undefined ? entries : [chosen]).map(({ family }) => family));
    const fitting = wallets.filter(({ family }) => families.has(family));
    const preferred = fitting.find(({ key }) => key === lastWallet());
    find('#wallets')?.replaceChildren(
      ...walletList({
        wallets: fitting,
        preferred,
        entryFor,
        isMixed: families.size > 1,
        words,
        onChoose: (wallet) => void pay(wallet),
      }),
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
      if (stage !== 'idle') return;
      choice.showBalances(balances);
      const best = chooseEntry(fitting, balances);
      if (choice.chosen() === undefined && best !== undefined) choice.show(best);
      list();
    } catch {
      // Then it is asked when the buyer pays.
    }
  }

  async function pay(wallet: PageWallet): Promise<void> {
    if (stage !== 'idle') return;
    stage = 'signing';
    const ending = new AbortController();
    attempt = ending;
    const cancel = (): void => ending.abort(new WalletProblem('declined'));
    const view: AttemptView = {
      show: (step, entry) => showWalletStep(step, wallet, entry, cancel),
      connected(balances, entry) {
        rememberWallet(wallet.key);
        choice.show(entry);
        choice.showBalances(balances);
      },
      formatBalance: (entry, balance) => formatBalance(entry, balance, language),
    };
    try {
      const signed = await signWith(wallet, entries, choice.chosen(), view, ending.signal);
      await send(signed);
    } catch (error) {
      if (ending.signal.aborted && !(ending.signal.reason instanceof WalletProblem)) return;
      back(
        error instanceof WalletProblem
          ? problemNotice(error)
          : problemNotice(new WalletProblem('walletFailed', { wallet: wallet.name })),
      );
    }
  }

  function showWalletStep(
    step: Step,
    { name }: PageWallet,
    entry: PayableEntry | undefined,
    cancel: () => void,
  ): void {
    const values = {
      wallet: name,
      network: entry?.networkName ?? '',
      amount: entry?.amount ?? '',
    };
    showStep(words[step], words[`${step}Text`], values, words, cancel);
  }

  async function send(payment: KeptPayment): Promise<void> {
    stage = 'sent';
    showStep(words.sending, words.sendingText, {}, words, undefined);
    const onTrouble = (): void => showStep(words.checking, words.checkingText, {}, words, undefined);
    const outcome = await sendPayment(path, sessionId, payment, onTrouble);
    if (outcome.outcome === 'failed') back(failureNotice(words, outcome.code));
    else if (outcome.outcome === 'lost') back(lostNotice(payment));
    events.onOutcome(outcome);
  }

  function back(notice: Notice): void {
    stage = 'idle';
    attempt = undefined;
    list();
    hideStep();
    showNotice(notice);
  }

  function lostNotice(payment: KeptPayment): Notice {
    const action = { label: words.sendAgain, run: () => void send(payment) };
    return { title: words.failed, lines: [words.lost], action };
  }

  function problemNotice({ word, values }: WalletProblem): Notice {
    const more = word === 'notEnough' ? words.notEnoughAnywhere : words.nothingPaid;
    return { title: words[word], lines: [more], values };
  }

  list();
  setTimeout(() => {
    const ways = find('#ways');
    if (wallets.length > 0 || !(ways instanceof HTMLDetailsElement)) return;
    ways.open = true;
    find('#wallets')?.replaceChildren(make('p', { class: 'notice' }, words.noneFound));
  }, WALLETS_MS);
  return {
    addWallet(wallet) {
      if (!wallets.includes(wallet)) wallets.push(wallet);
      if (stage === 'idle') list();
      if (wallet.key === lastWallet()) void prepare(wallet);
    },
    resume: (payment) => void send(payment),
    stage: () => stage,
    end() {
      attempt?.abort();
    },
  };
}

export function failureNotice(words: ScriptWords, code = 'payment_failed'): Notice {
  return { title: words.failed, lines: [words[failureWord(code)], words.nothingPaid] };
}
