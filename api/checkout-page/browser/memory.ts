/** Browser storage, which may be unavailable: private windows and strict settings throw. */
const LAST_WALLET = 'checkout-wallet';

export interface KeptPayment {
  /** The signed payment, as it is sent. */
  header: string;
  /** Unix seconds on the server's clock. */
  validUntil: number;
}

export function lastWallet(): string | undefined {
  return tryToRead(() => localStorage.getItem(LAST_WALLET));
}

export function rememberWallet(key: string): void {
  tryToWrite(() => localStorage.setItem(LAST_WALLET, key));
}

/** A payment that was signed in this tab and may or may not have arrived. */
export function keptPayment(sessionId: string): KeptPayment | undefined {
  const text = tryToRead(() => sessionStorage.getItem(`checkout-signed-${sessionId}`));
  if (text === undefined) return undefined;
  try {
    const { header, validUntil } = JSON.parse(text) as Partial<KeptPayment>;
    return typeof header === 'string' && typeof validUntil === 'number' ? { header, validUntil } : undefined;
  } catch {
    return undefined;
  }
}

export function keepPayment(sessionId: string, payment: KeptPayment): void {
  tryToWrite(() => sessionStorage.setItem(`checkout-signed-${sessionId}`, JSON.stringify(payment)));
}

export function forgetPayment(sessionId: string): void {
  tryToWrite(() => sessionStorage.removeItem(`checkout-signed-${sessionId}`));
}

/** Whether this tab sent the payment. */
export function isMine(sessionId: string): boolean {
  return tryToRead(() => sessionStorage.getItem(`checkout-mine-${sessionId}`)) !== undefined;
}

export function markMine(sessionId: string, mine: 'mine' | 'not mine'): void {
  const key = `checkout-mine-${sessionId}`;
  tryToWrite(() => (mine === 'mine' ? sessionStorage.setItem(key, '1') : sessionStorage.removeItem(key)));
}

/** Whether the buyer has said in this tab that he has read that this payment may have been taken. */
export function isRead(paymentId: string): boolean {
  return tryToRead(() => sessionStorage.getItem(`checkout-read-${paymentId}`)) !== undefined;
}

export function markRead(paymentId: string): void {
  tryToWrite(() => sessionStorage.setItem(`checkout-read-${paymentId}`, '1'));
}

function tryToRead(from: () => string | null): string | undefined {
  try {
    return from() ?? undefined;
  } catch {
    return undefined;
  }
}

function tryToWrite(to: () => void): void {
  try {
    to();
  } catch {
    // Nothing is stored then, and the page works without it.
  }
}
