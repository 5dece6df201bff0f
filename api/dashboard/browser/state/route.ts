import { useLayoutEffect, useState } from 'preact/hooks';

/** The place in the page: `#/payments/pay_1?token=USDC` is the screen `payments` with an id and a filter. */
export interface Route {
  screen: string;
  /** The parts of the path after the screen. */
  rest: readonly string[];
  query: Readonly<Record<string, string>>;
}

export type Query = Readonly<Record<string, string | undefined>>;

function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [screen = '', ...rest] = path.split('/').map(decoded);
  return { screen: screen || 'overview', rest, query: Object.fromEntries(new URLSearchParams(search)) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a screen; parameters that are undefined or empty are left out. */
export function linkTo(parts: readonly string[], query: Query = {}): string {
  const search = searchOf(query);
  return `#/${parts.map(encodeURIComponent).join('/')}${search}`;
}

export function searchOf(query: Query): string {
  const entries = Object.entries(query).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

export function goTo(address: string): void {
  location.hash = address;
}

/** How many times the screen was changed. */
let changes = 0;

/** The screen without its filters and its place in a list. */
function placeIn(hash: string): string {
  return hash.split('?', 1)[0] ?? '';
}

/** The screen that is shown. It is another one when it was left and opened again: its forms begin anew. */
export function shownScreen(): string {
  return `${changes} ${placeIn(location.hash)}`;
}

/** Goes to the address unless another screen than `from` is shown: an answer may come after the merchant has gone on. */
export function goToUnlessLeft(from: string, address: string): void {
  if (shownScreen() === from) goTo(address);
}

/** Goes to the address in place of the current one in the browser's history. */
export function replaceAddress(address: string): void {
  location.replace(address);
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  // An effect after the painting would miss a change of the address before it.
  useLayoutEffect(() => {
    let place = placeIn(location.hash);
    const follow = (): void => {
      if (place !== placeIn(location.hash)) changes += 1;
      place = placeIn(location.hash);
      setHash(location.hash);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return parseRoute(hash);
}
