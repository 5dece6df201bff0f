/** Browser storage, which may be unavailable: private windows and strict settings throw. */
const LAST_WALLET = 'checkout-wallet';

export interface KeptPayment {
  /** The signed payment, as it is sent. */
  header: string;
  /** The address of the wallet that signed. */
  payer: string;
  /** Unix seconds on the server's clock. */
  validUntil: number;
}

export function lastWallet(): string | undefined {
  return tryToRead(() => localStorage.getItem(LAST_WALLET));
}

export function rememberWallet(key: string): void {
  tryToWrite(() => localStorage.setItem(LAST_WALLET, key));
}

/** The facilitator refused the wallet that was used last. */
export function refuseLastWallet(): void {
  tryToWrite(() => sessionStorage.setItem(`checkout-refused-${lastWallet()}`, '1'));
}

export function isRefused(key: string): boolean {
  return tryToRead(() => sessionStorage.getItem(`checkout-refused-${key}`)) !== undefined;
}

/** A payment that was signed in this tab and may or may not have arrived. */
export function keptPayment(sessionId: string): KeptPayment | undefined {
  const text = tryToRead(() => sessionStorage.getItem(`checkout-signed-${sessionId}`));
  if (text === undefined) return undefined;
  try {
    const { header, payer = '', validUntil } = JSON.parse(text) as Partial<KeptPayment>;
    if (typeof header !== 'string' || typeof validUntil !== 'number') return undefined;
    return { header, payer, validUntil };
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

/** The wallet that this tab paid with; undefined when it sent no payment, or when its payment has failed. */
export function ownPayer(sessionId: string): string | undefined {
  return tryToRead(() => sessionStorage.getItem(`checkout-mine-${sessionId}`));
}

export function markMine(sessionId: string, payer: string): void {
  tryToWrite(() => sessionStorage.setItem(`checkout-mine-${sessionId}`, payer));
}

export function markNotMine(sessionId: string): void {
  tryToWrite(() => sessionStorage.removeItem(`checkout-mine-${sessionId}`));
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
    // The browser refuses to store: the page works without it.
  }
}
