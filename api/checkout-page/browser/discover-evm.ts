import { createEvmWallet, type Provider } from './evm-wallet.js';
import type { ServerClock } from './server-clock.js';
import type { PageWallet } from './wallet.js';
import { cleanName, safeIcon } from './wallet-identity.js';

const MAX_WALLETS = 30;
/** How long `window.ethereum` waits for its wallet to announce itself under EIP-6963. */
const ANNOUNCES_WITHIN_MS = 250;

/**
 * EIP-6963: wallets announce themselves on request and when they are loaded. A wallet that only sets
 * `window.ethereum`, as the browsers of some wallet apps do, is offered as `browserWallet` if no wallet announces
 * itself.
 */
export function discoverEvmWallets(
  clock: ServerClock,
  browserWallet: string,
  found: (wallet: PageWallet) => void,
): void {
  const known = new Set<string>();
  let unnamed: Provider | undefined;
  const add = (wallet: PageWallet): void => {
    if (known.has(wallet.key) || known.size >= MAX_WALLETS) return;
    known.add(wallet.key);
    found(wallet);
  };
  window.addEventListener('eip6963:announceProvider', (event) => {
    try {
      const { info, provider } = (event as CustomEvent<Announcement>).detail;
      if (info === undefined || !isProvider(provider) || provider === unnamed) return;
      const { rdns, uuid, name, icon } = info;
      const id = typeof rdns === 'string' && rdns !== '' ? rdns : String(uuid);
      const identity = { key: `evm:${id.slice(0, 200)}`, name: cleanName(name), icon: safeIcon(icon) };
      add(createEvmWallet(identity, provider, clock));
    } catch {
      // A wallet with an unreadable announcement is skipped.
    }
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));

  const addUnnamed = (): void => {
    const { ethereum } = window as { ethereum?: unknown };
    if (known.size > 0 || !isProvider(ethereum)) return;
    unnamed = ethereum;
    add(createEvmWallet({ key: 'evm:browser', name: browserWallet, icon: undefined }, ethereum, clock));
  };
  setTimeout(addUnnamed, ANNOUNCES_WITHIN_MS);
  window.addEventListener('ethereum#initialized', () => setTimeout(addUnnamed, ANNOUNCES_WITHIN_MS));
}

interface Announcement {
  info?: Record<string, unknown>;
  provider?: unknown;
}

function isProvider(value: unknown): value is Provider {
  return typeof (value as Partial<Provider> | undefined)?.request === 'function';
}
