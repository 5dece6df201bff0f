import type { PageData, PayableEntry } from '../page-data.js';
import { type AttemptView, signWith, type WalletStep } from './attempt.js';
import { type EntryChoice, formatBalance, wireEntryChoice } from './entry-choice.js';
import { type KeptPayment, rememberWallet } from './memory.js';
import { failureNotice, lostNotice, problemNotice } from './payment-notices.js';
import { allowLeaving, type Progress, showProgress } from './progress.js';
import { type Outcome, sendPayment } from './send-payment.js';
import type { ServerClock } from './server-clock.js';
import { clearNotice, hideStep, type Notice, showNotice, showStep } from './steps.js';
import { type PageWallet, WalletProblem } from './wallet.js';
import { wireWalletPicker } from './wallet-picker.js';

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

export function openCheckout(
  data: PageData,
  entries: readonly [PayableEntry, ...PayableEntry[]],
  wallets: PageWallet[],
  clock: ServerClock,
  events: CheckoutEvents,
): Checkout {
  const { words, language, path, sessionId } = data;
  let attempt: AbortController | undefined;
  let stage: ReturnType<Checkout['stage']> = 'idle';
  const choice = wireEntryChoice(entries, language, words, () => {
    clearNotice();
    picker.show();
  });
  const isIdle = (): boolean => stage === 'idle';
  const onPick = (wallet: PageWallet): void => void pay(wallet);
  const picker = wireWalletPicker({ entries, choice, wallets, words, isIdle, onPick });

  async function pay(wallet: PageWallet): Promise<void> {
    if (stage !== 'idle') return;
    stage = 'signing';
    const ending = new AbortController();
    attempt = ending;
    const view = attemptView(data, wallet, choice, () => ending.abort(new WalletProblem('cancelled')));
    try {
      const signed = await signWith(wallet, entries, choice.chosen(), view, ending.signal);
      await send(signed);
    } catch (error) {
      if (ending.signal.aborted && !(ending.signal.reason instanceof WalletProblem)) return;
      back(problemNotice(words, error, wallet));
    }
  }

  async function send(payment: KeptPayment): Promise<void> {
    stage = 'sent';
    const signedAt = performance.now();
    const show = (progress: Progress): void =>
      showProgress(progress, data, () => (performance.now() - signedAt) / 1000);
    show('sending');
    const outcome = await sendPayment(payment, { path, sessionId, clock, onTrouble: show });
    if (outcome.outcome === 'failed') back(failureNotice(words, outcome.code));
    else if (outcome.outcome === 'lost') back(lostNotice(words, () => void send(payment)));
    events.onOutcome(outcome);
  }

  function back(notice: Notice): void {
    stage = 'idle';
    attempt = undefined;
    picker.show();
    hideStep();
    allowLeaving(true);
    showNotice(notice);
  }

  picker.show();
  return {
    addWallet: picker.add,
    resume: (payment) => void send(payment),
    stage: () => stage,
    end: () => attempt?.abort(),
  };
}

/** What the buyer sees while a wallet is asked; `cancel` gives it up. */
function attemptView(
  { words, language }: PageData,
  wallet: PageWallet,
  choice: EntryChoice,
  cancel: () => void,
): AttemptView {
  return {
    show(step: WalletStep, entry) {
      const { networkName: network = '', amount = '' } = entry ?? {};
      showStep(words[step], words[`${step}Text`], { wallet: wallet.name, network, amount }, words, cancel);
    },
    connected(balances, entry) {
      rememberWallet(wallet.key);
      choice.show(entry);
      choice.showBalances(balances);
    },
    formatBalance: (entry, balance) => formatBalance(entry, balance, language),
  };
}
