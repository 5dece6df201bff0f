/** What a browser keeps for us, if it does: private windows and strict settings throw. */
const LAST_WALLET = 'checkout-wallet';

export interface KeptPayment {
  /** The signed payment, as it is sent. */
  header: string;
  /** Unix seconds on the server's clock. */
  validUntil: number;
}

export function lastWallet(): string | undefined {
  return read(() => localStorage.getItem(LAST_WALLET));
}

export function rememberWallet(key: string): void {
  write(() => localStorage.setItem(LAST_WALLET, key));
}

/** A payment that was signed in this tab and of which it is not known whether it arrived. */
export function keptPayment(sessionId: string): KeptPayment | undefined {
  const text = read(() => sessionStorage.getItem(`checkout-signed-${sessionId}`));
  if (text === undefined) return undefined;
  try {
    const { header, validUntil } = JSON.parse(text) as Partial<KeptPayment>;
    return typeof header === 'string' && typeof validUntil === 'number' ? { header, validUntil } : undefined;
  } catch {
    return undefined;
  }
}

export function keepPayment(sessionId: string, payment: KeptPayment): void {
  write(() => sessionStorage.setItem(`checkout-signed-${sessionId}`, JSON.stringify(payment)));
}

export function forgetPayment(sessionId: string): void {
  write(() => sessionStorage.removeItem(`checkout-signed-${sessionId}`));
}

/** Whether it is this tab that pays. */
export function isMine(sessionId: string): boolean {
  return read(() => sessionStorage.getItem(`checkout-mine-${sessionId}`)) !== undefined;
}

export function markMine(sessionId: string, mine: 'mine' | 'not mine'): void {
  const key = `checkout-mine-${sessionId}`;
  write(() => (mine === 'mine' ? sessionStorage.setItem(key, '1') : sessionStorage.removeItem(key)));
}

function read(from: () => string | null): string | undefined {
  try {
    return from() ?? undefined;
  } catch {
    return undefined;
  }
}

function write(to: () => void): void {
  try {
    to();
  } catch {
    // Then it is not remembered, and everything works without.
  }
}
