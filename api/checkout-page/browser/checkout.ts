import type { PageData, PayableEntry } from '../page-data.js';
import { type AttemptView, type ConnectHow, signWith, type WalletStep } from './attempt.js';
import type { Holdings } from './choose-entry.js';
import { type ConnectedAccount, openAccount } from './connected-account.js';
import { button } from './dom.js';
import { type EntryChoice, formatBalance, wireEntryChoice } from './entry-choice.js';
import { type KeptPayment, refuseLastWallet, rememberWallet } from './memory.js';
import { openNonces } from './nonces.js';
import { failureNotice, problemNotice } from './payment-notices.js';
import { allowLeaving, type Progress, showProgress } from './progress.js';
import { type Outcome, sendPayment } from './send-payment.js';
import type { ServerClock } from './server-clock.js';
import { signingPanel } from './signing-panel.js';
import { clearNotice, hideStep, type Notice, showNotice, showStep } from './steps.js';
import { hideUncertain, showUncertain } from './uncertain.js';
import { type Nonces, type PageWallet, WalletProblem } from './wallet.js';
import { type WalletPicker, wireWalletPicker } from './wallet-picker.js';

/** The panel of an open session: its wallets, the chosen entry, and at most one attempt to pay. */
export interface Checkout {
  addWallet(wallet: PageWallet): void;
  /** Sends a payment that was signed before the page was reloaded. */
  resume(payment: KeptPayment): void;
  /** `signing` can be cancelled, `sent` cannot. `answered`: the state of the session says what became of it. */
  stage(): 'idle' | 'signing' | 'sent' | 'answered';
  /** The session is no longer open. */
  end(): void;
}

interface CheckoutEvents {
  /** Called before a signed payment is sent; `onOutcome` follows. */
  onSending(): void;
  /** Called with the outcome of a payment that was sent. */
  onOutcome(outcome: Outcome): void;
}

export function openCheckout(
  data: PageData,
  entries: readonly [PayableEntry, ...PayableEntry[]],
  wallets: PageWallet[],
  clock: ServerClock,
  events: CheckoutEvents,
): Checkout {
  return new OpenCheckout(data, entries, wallets, clock, events);
}

class OpenCheckout implements Checkout {
  readonly #data: PageData;
  readonly #entries: readonly PayableEntry[];
  readonly #clock: ServerClock;
  readonly #events: CheckoutEvents;
  readonly #choice: EntryChoice;
  readonly #account: ConnectedAccount;
  readonly #picker: WalletPicker;
  readonly #nonces: Nonces;
  #attempt: Attempt | undefined;
  #stage: ReturnType<Checkout['stage']> = 'idle';

  constructor(
    data: PageData,
    entries: readonly [PayableEntry, ...PayableEntry[]],
    wallets: PageWallet[],
    clock: ServerClock,
    events: CheckoutEvents,
  ) {
    const { words, language, path } = data;
    this.#data = data;
    this.#entries = entries;
    this.#clock = clock;
    this.#events = events;
    this.#nonces = openNonces(data);
    const isIdle = (): boolean => this.#stage === 'idle';
    const onShown = (): void => {
      if (isIdle()) this.#picker.show();
    };
    const entriesOf = (wallet: PageWallet): PayableEntry[] => this.#entriesOf(wallet);
    const choice = wireEntryChoice(entries, language, words, () => {
      clearNotice();
      this.#picker.show();
    });
    this.#choice = choice;
    this.#account = openAccount({ path, entriesOf, choice, onShown });
    this.#picker = wireWalletPicker({
      entries,
      choice,
      wallets,
      words,
      isIdle,
      promised: (wallet) => this.#promised(wallet),
      onPick: (wallet) => void this.#pay(wallet),
      onReturn: (wallet) => void this.#account.readSilently(wallet),
    });
    for (const wallet of wallets) this.#follow(wallet);
    this.#picker.show();
  }

  addWallet(wallet: PageWallet): void {
    this.#follow(wallet);
    this.#picker.add(wallet);
  }

  resume(payment: KeptPayment): void {
    void this.#send(payment, true);
  }

  stage(): ReturnType<Checkout['stage']> {
    return this.#stage;
  }

  end(): void {
    this.#attempt?.end(undefined);
  }

  #entriesOf({ family }: PageWallet): PayableEntry[] {
    return this.#entries.filter((entry) => entry.family === family);
  }

  /** The entry that the button of this wallet names, which is the entry that is signed. */
  #promised(wallet: PageWallet): PayableEntry | undefined {
    const entry = this.#account.isOf(wallet) ? this.#choice.current() : this.#choice.chosen();
    const [only, ...others] = this.#entriesOf(wallet);
    return entry?.family === wallet.family ? entry : others.length === 0 ? only : undefined;
  }

  async #pay(wallet: PageWallet, how: ConnectHow = 'asking'): Promise<void> {
    if (this.#stage !== 'idle') return;
    this.#stage = 'signing';
    this.#choice.allow(false);
    const ending = new AbortController();
    const own: Attempt = { wallet, address: undefined, end: (why) => ending.abort(why) };
    this.#attempt = own;
    const { path, words } = this.#data;
    const entries = this.#entriesOf(wallet);
    const options = { path, entries, promised: this.#promised(wallet), how, nonces: this.#nonces };
    const view = attemptView(
      this.#data,
      own,
      (holdings) => this.#account.use(wallet, holdings),
      (attempt) => this.#changeAccount(attempt),
    );
    let signed: KeptPayment;
    try {
      signed = await signWith(wallet, options, view, ending.signal);
    } catch (error) {
      const isCut = ending.signal.aborted && !(ending.signal.reason instanceof WalletProblem);
      if (this.#attempt !== own || isCut) return;
      this.#back(problemNotice(words, error, wallet));
      return;
    }
    await this.#send(signed, false);
  }

  /** Cancels the current request to the wallet: a signature of the previous account would be dropped. */
  #changeAccount({ wallet, end }: Attempt): void {
    if (this.#stage !== 'signing') return;
    this.#attempt = undefined;
    this.#stage = 'idle';
    end(undefined);
    void this.#account.read(wallet, undefined);
    void this.#pay(wallet, 'another account');
  }

  async #send(payment: KeptPayment, isUnclear: boolean): Promise<void> {
    const { path, sessionId, words } = this.#data;
    this.#stage = 'sent';
    this.#choice.allow(false);
    const signedAt = performance.now();
    const show = (progress: Progress): void =>
      showProgress(progress, this.#data, () => (performance.now() - signedAt) / 1000);
    show('sending');
    this.#events.onSending();
    const sending = { path, sessionId, clock: this.#clock, onTrouble: show };
    const outcome = await sendPayment(payment, isUnclear, sending);
    if (outcome.outcome === 'lost' || (outcome.outcome === 'failed' && outcome.uncertain))
      this.#warn(payment, outcome);
    else if (outcome.outcome === 'failed') {
      // Another try with the same account would be refused again.
      if (outcome.cause === 'failedRefused') refuseLastWallet();
      this.#back(failureNotice(words, outcome));
    } else this.#stage = 'answered';
    this.#events.onOutcome(outcome);
  }

  /** The payment may have been taken. */
  #warn(payment: KeptPayment, { outcome, payment: id }: Outcome): void {
    const { sessionId, words } = this.#data;
    const again = button(words.sendAgain, 'quiet', () => {
      hideUncertain();
      void this.#send(payment, true);
    });
    showUncertain({
      reference: id ?? sessionId,
      payment: id,
      ...(outcome === 'lost' && { why: words.lost }),
      // The service itself watches a payment that has an id.
      ...(id === undefined && { again }),
    });
    this.#back(undefined);
  }

  #back(notice: Notice | undefined): void {
    this.#stage = 'idle';
    this.#attempt = undefined;
    this.#choice.allow(true);
    this.#picker.show();
    hideStep();
    allowLeaving(true);
    if (notice !== undefined) showNotice(notice);
  }

  #onAccount(wallet: PageWallet, address: string | undefined): void {
    const current = this.#attempt?.wallet === wallet && this.#stage === 'signing' ? this.#attempt : undefined;
    // While the wallet connects, its answer to the request counts, not this event.
    if (current !== undefined && current.address === undefined) return;
    const before = current?.address ?? (this.#account.isOf(wallet) ? this.#account.address() : undefined);
    if (before === undefined || before.toLowerCase() === address?.toLowerCase()) return;
    const word = address === undefined ? 'accountGone' : 'accountChanged';
    current?.end(new WalletProblem(word, { wallet: wallet.name }));
    void this.#account.read(wallet, address);
  }

  #follow(wallet: PageWallet): void {
    wallet.follow({
      account: (address) => this.#onAccount(wallet, address),
      network: () => {
        if (this.#stage === 'idle' && this.#account.isOf(wallet)) void this.#account.move();
      },
    });
  }
}

interface Attempt {
  wallet: PageWallet;
  /** Undefined until the wallet is connected. */
  address: string | undefined;
  end(why: WalletProblem | undefined): void;
}

/** The view of an attempt; `cancel` ends it. */
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
