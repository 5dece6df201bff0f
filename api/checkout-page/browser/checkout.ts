import type { PageData, PayableEntry } from '../page-data.js';
import { type AttemptView, type ConnectHow, signWith, type WalletStep } from './attempt.js';
import type { Holdings } from './choose-entry.js';
import { openAccount } from './connected-account.js';
import { formatBalance, wireEntryChoice } from './entry-choice.js';
import { type KeptPayment, rememberWallet } from './memory.js';
import { failureNotice, lostNotice, problemNotice } from './payment-notices.js';
import { allowLeaving, type Progress, showProgress } from './progress.js';
import { type Outcome, sendPayment } from './send-payment.js';
import type { ServerClock } from './server-clock.js';
import { signingPanel } from './signing-panel.js';
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
  let attempt: Attempt | undefined;
  let stage: ReturnType<Checkout['stage']> = 'idle';
  const isIdle = (): boolean => stage === 'idle';
  const entriesOf = ({ family }: PageWallet): PayableEntry[] =>
    entries.filter((entry) => entry.family === family);
  const choice = wireEntryChoice(entries, language, words, () => {
    clearNotice();
    picker.show();
  });
  const onShown = (): void => {
    if (isIdle()) picker.show();
  };
  const account = openAccount({ path, entriesOf, choice, onShown });
  const picker = wireWalletPicker({
    entries,
    choice,
    wallets,
    words,
    isIdle,
    promised,
    onPick: (wallet) => void pay(wallet),
    onReturn: (wallet) => void account.readSilently(wallet),
  });

  /** What the button of this wallet names, and therefore what is signed. */
  function promised(wallet: PageWallet): PayableEntry | undefined {
    const entry = account.isOf(wallet) ? choice.current() : choice.chosen();
    const [only, ...others] = entriesOf(wallet);
    return entry?.family === wallet.family ? entry : others.length === 0 ? only : undefined;
  }

  async function pay(wallet: PageWallet, how: ConnectHow = 'asking'): Promise<void> {
    if (stage !== 'idle') return;
    stage = 'signing';
    const ending = new AbortController();
    const own: Attempt = { wallet, address: undefined, end: (why) => ending.abort(why) };
    attempt = own;
    const asked = { path, entries: entriesOf(wallet), promised: promised(wallet), how };
    const view = attemptView(data, own, (holdings) => account.use(wallet, holdings), changeAccount);
    try {
      await send(await signWith(wallet, asked, view, ending.signal));
    } catch (error) {
      if (attempt !== own || (ending.signal.aborted && !(ending.signal.reason instanceof WalletProblem)))
        return;
      back(problemNotice(words, error, wallet));
    }
  }

  /** What the wallet is asked now is given up: a signature of the account before would be dropped. */
  function changeAccount({ wallet, end }: Attempt): void {
    if (stage !== 'signing') return;
    attempt = undefined;
    stage = 'idle';
    end(undefined);
    void account.read(wallet, undefined);
    void pay(wallet, 'another account');
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

  function onAccount(wallet: PageWallet, address: string | undefined): void {
    const asked = attempt?.wallet === wallet && stage === 'signing' ? attempt : undefined;
    // While it is being connected, what it answers counts.
    if (asked !== undefined && asked.address === undefined) return;
    const before = asked?.address ?? (account.isOf(wallet) ? account.address() : undefined);
    if (before === undefined || before.toLowerCase() === address?.toLowerCase()) return;
    const word = address === undefined ? 'accountGone' : 'accountChanged';
    asked?.end(new WalletProblem(word, { wallet: wallet.name }));
    void account.read(wallet, address);
  }

  function follow(wallet: PageWallet): void {
    wallet.follow({
      account: (address) => onAccount(wallet, address),
      network() {
        if (isIdle() && account.isOf(wallet)) void account.move();
      },
    });
  }

  for (const wallet of wallets) follow(wallet);
  picker.show();
  return {
    addWallet(wallet) {
      follow(wallet);
      picker.add(wallet);
    },
    resume: (payment) => void send(payment),
    stage: () => stage,
    end: () => attempt?.end(undefined),
  };
}

interface Attempt {
  wallet: PageWallet;
  /** Undefined until the wallet is connected. */
  address: string | undefined;
  end(why: WalletProblem | undefined): void;
}

/** What the buyer sees while a wallet is asked; `cancel` gives it up. */
function attemptView(
  { words, language }: PageData,
  attempt: Attempt,
  onHoldings: (holdings: Holdings) => void,
  changeAccount: (attempt: Attempt) => void,
): AttemptView {
  const { wallet } = attempt;
  const cancel = (): void => attempt.end(new WalletProblem('cancelled'));
  return {
    show(step: WalletStep, entry, address) {
      attempt.address = address;
      const { networkName: network = '', amount = '' } = entry ?? {};
      const signing = { wallet, entry, address, changeAccount: () => changeAccount(attempt) };
      const values = { wallet: wallet.name, network, amount };
      showStep(words[step], words[`${step}Text`], values, words, cancel, signingPanel(signing, words));
    },
    holds(holdings) {
      rememberWallet(wallet.key);
      onHoldings(holdings);
    },
    formatBalance: (entry, balance) => formatBalance(entry, balance, language),
  };
}
