/**
 * The checkout key, in the `sessionStorage` of this tab and nowhere else: it ends with the tab, and no other tab, origin
 * or server-side session has it. Each function works without storage, which some browsers deny; the key is then asked
 * for again after a reload.
 */
const NAME = 'checkout-key';
const SHAPE = /^svc_ck_(live|test)_[A-Za-z0-9]+$/;
/** `#sign-in=<key>`, as `npm start` prints it. A fragment is not sent to servers. */
const SIGN_IN = '#sign-in=';

export const isKeyShaped = (text: string): boolean => SHAPE.test(text);
export const isLiveKey = (key: string): boolean => key.startsWith('svc_ck_live_');

export function readKey(): string | undefined {
  try {
    const key = sessionStorage.getItem(NAME) ?? '';
    return isKeyShaped(key) ? key : undefined;
  } catch {
    return undefined;
  }
}

export function keepKey(key: string): void {
  try {
    sessionStorage.setItem(NAME, key);
  } catch {
    // Storage is denied: the key lives in memory.
  }
}

/** A key that was kept since stays. */
export function forgetKey(key: string): void {
  try {
    if (readKey() === key) sessionStorage.removeItem(NAME);
  } catch {
    // Storage is denied: there is nothing to remove.
  }
}

/**
 * Takes a key out of the fragment, and out of the history; true when the tab is signed in by it. Only a sandbox's document
 * lets a link sign in, with a test key, a tab that has no key: elsewhere a link could sign a merchant in to the account of
 * its sender.
 */
export function takeKeyFromFragment(): boolean {
  const { hash, pathname } = location;
  if (!hash.startsWith(SIGN_IN)) return false;
  history.replaceState(null, '', pathname);
  const key = hash.slice(SIGN_IN.length);
  const isSandbox = document.documentElement.dataset.sandbox === 'true';
  if (!isSandbox || readKey() !== undefined || !isKeyShaped(key) || isLiveKey(key)) return false;
  keepKey(key);
  return readKey() === key;
}
