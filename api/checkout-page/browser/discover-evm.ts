import { createEvmWallet, type Provider } from './evm-wallet.js';
import type { ServerClock } from './server-clock.js';
import type { PageWallet } from './wallet.js';
import { cleanName, safeIcon } from './wallet-looks.js';

const MAX_WALLETS = 30;
/** How long a wallet without a name of its own may take to announce itself after all. */
const ANNOUNCES_WITHIN_MS = 250;

/**
 * EIP-6963: wallets announce themselves, when asked and whenever they are loaded. One that only sets `window.ethereum`, as
 * some wallets' own browsers do, is offered under `browserWallet` when nobody else is there.
 */
export function discoverEvmWallets(
  clock: ServerClock,
  browserWallet: string,
  found: (wallet: PageWallet) => void,
): void {
  const known = new Set<string>();
  let nameless: Provider | undefined;
  const add = (wallet: PageWallet): void => {
    if (known.has(wallet.key) || known.size >= MAX_WALLETS) return;
    known.add(wallet.key);
    found(wallet);
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    try {
      const { info, provider } = (event as CustomEvent<Announcement>).detail;
      if (info === undefined || !isProvider(provider) || provider === nameless) return;
      const { rdns, uuid, name, icon } = info;
      const id = typeof rdns === 'string' && rdns !== '' ? rdns : String(uuid);
      const looks = { key: `evm:${id.slice(0, 200)}`, name: cleanName(name), icon: safeIcon(icon) };
      add(createEvmWallet(looks, provider, clock));
    } catch {
      // A wallet whose announcement cannot be read is none.
    }
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));

  const addNameless = (): void => {
    const { ethereum } = window as { ethereum?: unknown };
    if (known.size > 0 || !isProvider(ethereum)) return;
    nameless = ethereum;
    add(createEvmWallet({ key: 'evm:browser', name: browserWallet, icon: undefined }, ethereum, clock));
  };
  setTimeout(addNameless, ANNOUNCES_WITHIN_MS);
  window.addEventListener('ethereum#initialized', () => setTimeout(addNameless, ANNOUNCES_WITHIN_MS));
}

interface Announcement {
  info?: Record<string, unknown>;
  provider?: unknown;
}

function isProvider(value: unknown): value is Provider {
  return typeof (value as Partial<Provider> | undefined)?.request === 'function';
}
