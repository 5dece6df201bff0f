import type { LinkStatus, PageData } from '../page-data.js';
import type { ScriptWords } from '../words/script-words.js';
import { askDocument } from './ask-server.js';
import { type Checkout, openCheckout } from './checkout.js';
import { startCountdown } from './countdown.js';
import { discoverEvmWallets } from './discover-evm.js';
import { announce, find } from './dom.js';
import { countElapsed } from './elapsed.js';
import { keptPayment, markNotMine, ownPayer, refuseLastWallet } from './memory.js';
import { wireParts } from './page-parts.js';
import { interruptedNotice } from './payment-notices.js';
import { type Connection, type Polling, startPolling } from './poll.js';
import { startRedirect, wireReceipt } from './receipt.js';
import type { Outcome } from './send-payment.js';
import { createServerClock, type ServerClock } from './server-clock.js';
import { discoverSolanaWallets } from './solana-wallet.js';
import { showNotice } from './steps.js';
import { firstHeading, isUncertain, showUncertain, warnsAnew, wireUncertain } from './uncertain.js';
import type { PageWallet } from './wallet.js';

/**
 * The server renders each state. This script replaces the content of the page when the state changes, and lets
 * wallets pay while the session is open.
 */
function start(page: HTMLElement, first: PageData): void {
  const clock = createServerClock(first.now);
  const wallets: PageWallet[] = [];
  let data = first;
  let checkout: Checkout | undefined;
  let stopCountdown: (() => void) | undefined;
  let lastOutcome: Outcome | undefined;
  /** True when the state changed while a wallet was being asked. */
  let isInterrupted = false;
  /** The revision that an attempt was not interrupted for. */
  let passedOver: string | undefined;
  /** Payments that this page has sent and that are unanswered. */
  let unanswered = 0;

  function show(isChange: boolean): void {
    stopCountdown?.();
    wireParts(data.language, data.words);
    wireUncertain();
    noteRefusal(data.sessionId);
    const [entry, ...others] = data.entries;
    checkout = entry && openCheckout(data, [entry, ...others], wallets, clock, { onSending, onOutcome });
    if (entry !== undefined) {
      stopCountdown = startCountdown(data, clock, data.language, data.words, () => polling.askNow());
    }
    resumePayment(data.sessionId, checkout);
    showWhosePayment(data.sessionId, checkout?.stage());
    showSince(data, clock);
    wireReceipt();
    const state = shownState();
    const isReceipt = state === 'complete';
    if (isReceipt) polling.stop();
    // An open session interrupts by its warning only.
    showInterruption(state, data, isInterrupted && (state !== 'open' || isUncertain()), lastOutcome);
    if (state === 'open') isInterrupted = false;
    if (isReceipt && isChange) redirect();
  }

  /** A receipt stays when it names a second payment, and while this page's own payment is unanswered. */
  function redirect(): void {
    const isRead = unanswered === 0 && find('[data-surplus]') === undefined && !isUncertain();
    if (isRead && data.successUrl !== null) startRedirect(data.successUrl, data.words);
  }

  function onSending(): void {
    unanswered += 1;
  }

  function onOutcome(outcome: Outcome): void {
    unanswered -= 1;
    lastOutcome = outcome;
    const state = shownState();
    // The page may have shown another payment's state before this answer: the next poll may find no change, and a receipt
    // does not poll.
    if (state !== 'open') showInterruption(state, data, isInterrupted, outcome);
    if (state === 'complete') redirect();
    else polling.askNow();
  }

  async function onStatus(status: LinkStatus): Promise<void> {
    clock.sync(status.now);
    const stage = checkout?.stage();
    // A payment may have failed between two polls, as the one before it did: then the revision is that of the page.
    if (status.revision === page.dataset.revision && stage !== 'answered') return;
    if (status.revision === passedOver && isAttempting(checkout)) return;
    const next = await askDocument(data.path);
    const nextPage = next.querySelector<HTMLElement>('#page[data-page]');
    if (nextPage === null) return;
    // While the session is open, an attempt is interrupted by a warning only.
    if (shownState(nextPage) === 'open' && isAttempting(checkout, nextPage)) {
      passedOver = status.revision;
      return;
    }
    if (checkout?.stage() === 'signing') isInterrupted = true;
    checkout?.end();
    replaceContent(page, nextPage, next);
    data = readData(page) ?? data;
    show(true);
    announceState();
  }

  const onConnection = (connection: Connection): void => showConnection(connection, data.words);
  const polling: Polling = startPolling(data.path, { onStatus, onConnection });
  show(false);
  discoverWallets(data, clock, (wallet) => {
    if (checkout === undefined) wallets.push(wallet);
    else checkout.addWallet(wallet);
  });
}

/** False for an attempt that this document stops: what the wallet signs next could be a second payment. */
function isAttempting(checkout: Checkout | undefined, next?: ParentNode): boolean {
  const stage = checkout?.stage();
  return stage === 'sent' || (stage === 'signing' && !(next && warnsAnew(next)));
}

function shownState(within: ParentNode = document): string {
  return within.querySelector<HTMLElement>('[data-state]')?.dataset.state ?? '';
}

function showInterruption(
  state: string,
  { words, sessionId }: PageData,
  isInterrupted: boolean,
  last: Outcome | undefined,
): void {
  const notice = isInterrupted ? interruptedNotice(words, state) : undefined;
  const isUnused = last?.outcome === 'others' || last?.outcome === 'over';
  const unused =
    state === 'complete' ? words.paidElsewhere : state === 'expired' ? words.nothingPaid : undefined;
  if (notice !== undefined) showNotice(notice);
  else if (isUnused && !last.uncertain && !isUncertain() && unused !== undefined) {
    showNotice({ title: unused, lines: [] });
  }
  // The receipt names a payment that arrived as well.
  if (isUnused && last.uncertain && find('[data-surplus]') === undefined) {
    showUncertain({ reference: last.payment ?? sessionId, payment: last.payment });
  }
}

function discoverWallets(data: PageData, clock: ServerClock, found: (wallet: PageWallet) => void): void {
  discoverEvmWallets(clock, data.words.browserWallet, found);
  const chains = new Set(data.livemode ? ['solana:mainnet'] : ['solana:devnet']);
  discoverSolanaWallets(data.path, chains, clock, found);
}

/**
 * Resumes a payment that was signed before the page was reloaded and may have arrived, even when its signature has ended:
 * the answer says whether it was taken. Keeps it while nothing can be paid.
 */
function resumePayment(sessionId: string, checkout: Checkout | undefined): void {
  const payment = keptPayment(sessionId);
  if (payment !== undefined && checkout?.stage() === 'idle') checkout.resume(payment);
}

/** The tab's own payment failed because of its wallet, after it was taken. */
function noteRefusal(sessionId: string): void {
  const isOwn = ownPayer(sessionId) !== undefined && keptPayment(sessionId) === undefined;
  if (isOwn && find('[data-refused]') !== undefined) refuseLastWallet();
}

/**
 * A payment is this tab's own when the wallet that the tab paid with holds the session. An open session is held by no payment:
 * the tab's own has failed, unless it is still being sent.
 */
function showWhosePayment(sessionId: string, stage: ReturnType<Checkout['stage']> | undefined): void {
  if (stage === 'idle') markNotMine(sessionId);
  const payer = find('[data-since]')?.dataset.payer;
  const own = ownPayer(sessionId);
  const mine = own !== undefined && (payer === undefined || own.toLowerCase() === payer.toLowerCase());
  const ours = find('[data-mine]');
  const others = find('[data-other]');
  if (ours !== undefined) ours.hidden = !mine;
  if (others !== undefined) others.hidden = mine;
}

function showSince({ language, words }: PageData, clock: ServerClock): void {
  const since = Number(find('[data-since]')?.dataset.since);
  if (since > 0) countElapsed(() => clock.now() - since, language, words);
}

/** Focuses the heading and announces the new state. */
function announceState(): void {
  const heading = firstHeading();
  heading?.focus();
  announce(
    [heading, find(`#${heading?.id} ~ p:not([hidden])`)].map((part) => part?.textContent ?? '').join('. '),
  );
}

function showConnection(connection: Connection, words: ScriptWords): void {
  const banner = find('#connection');
  if (banner === undefined) return;
  const text = connection === 'there' ? '' : words[connection];
  banner.hidden = text === '';
  if (banner.textContent !== text) banner.textContent = text;
}

function replaceContent(page: HTMLElement, next: HTMLElement, nextDocument: Document): void {
  document.title = nextDocument.title;
  page.replaceChildren(...[...next.childNodes].map((node) => document.adoptNode(node)));
  for (const { name, value } of next.attributes) page.setAttribute(name, value);
  const footer = nextDocument.querySelector('footer');
  if (footer !== null) document.querySelector('footer')?.replaceWith(document.adoptNode(footer));
}

function readData(page: HTMLElement): PageData | undefined {
  const text = page.dataset.page;
  return text === undefined ? undefined : (JSON.parse(text) as PageData);
}

const page = find('#page');
const data = page && readData(page);
if (page !== undefined && data !== undefined) start(page, data);
