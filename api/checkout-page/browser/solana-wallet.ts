import { askTransaction } from './ask-server.js';
import { fromBase64, toBase64 } from './base64.js';
import type { ServerClock } from './server-clock.js';
import { type PageWallet, type WalletChanges, WalletProblem } from './wallet.js';
import { cleanName, safeIcon } from './wallet-identity.js';

interface Account {
  address: string;
}

interface StandardWallet {
  name: unknown;
  icon: unknown;
  chains: unknown;
  accounts: readonly Account[];
  features: Readonly<Record<string, unknown>>;
}

interface Connect {
  connect(input?: { silent?: boolean }): Promise<{ accounts: readonly Account[] }>;
}

interface Disconnect {
  disconnect(): Promise<void>;
}

interface Events {
  on(event: 'change', listener: (changed: { accounts?: readonly Account[] }) => void): unknown;
}

interface SignTransaction {
  signTransaction(
    ...inputs: { account: Account; chain: string; transaction: Uint8Array }[]
  ): Promise<readonly { signedTransaction: Uint8Array }[]>;
}

type Register = (...wallets: unknown[]) => () => void;

const MAX_WALLETS = 30;
/** The blockhash of a transaction is valid for 150 blocks, about a minute. */
const LIFETIME_SECONDS = 60;

/** Wallet Standard: wallets that are loaded answer the event of the page; later ones send their own. */
export function discoverSolanaWallets(
  path: string,
  walletChains: ReadonlySet<string>,
  clock: ServerClock,
  found: (wallet: PageWallet) => void,
): void {
  const known = new Set<string>();
  const register: Register = (...wallets) => {
    for (const wallet of wallets) {
      try {
        const readable = readWallet(wallet, path, walletChains, clock);
        if (readable === undefined || known.has(readable.key) || known.size >= MAX_WALLETS) continue;
        known.add(readable.key);
        found(readable);
      } catch {
        // An unreadable wallet is skipped.
      }
    }
    return () => undefined;
  };
  const api = Object.freeze({ register });
  window.addEventListener('wallet-standard:register-wallet', (event) => {
    const { detail } = event as CustomEvent<unknown>;
    if (typeof detail === 'function') detail(api);
  });
  window.dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }));
}

function readWallet(
  wallet: unknown,
  path: string,
  walletChains: ReadonlySet<string>,
  clock: ServerClock,
): PageWallet | undefined {
  const { name, icon, chains, features } = wallet as StandardWallet;
  if (!('standard:connect' in features) || !('solana:signTransaction' in features)) return undefined;
  const isForUs = Array.isArray(chains) && chains.some((chain: unknown) => walletChains.has(String(chain)));
  if (!isForUs) return undefined;
  const cleaned = cleanName(name);
  return createSolanaWallet(wallet as StandardWallet, `svm:${cleaned}`, cleaned, safeIcon(icon), path, clock);
}

function createSolanaWallet(
  wallet: StandardWallet,
  key: string,
  name: string,
  icon: string | undefined,
  path: string,
  clock: ServerClock,
): PageWallet {
  const connect = wallet.features['standard:connect'] as Connect;
  const signer = wallet.features['solana:signTransaction'] as SignTransaction;
  let account: Account | undefined;
  const use = (accounts: readonly Account[]): string | undefined => {
    account = accounts[0];
    return typeof account?.address === 'string' ? account.address : undefined;
  };

  return {
    key,
    name,
    icon,
    family: 'svm',
    async connect(how) {
      const { accounts } = await connect.connect(how === 'silently' ? { silent: true } : undefined);
      return use(accounts.length > 0 ? accounts : wallet.accounts);
    },
    // After a disconnect, the wallet asks again which account to share.
    otherAccount: async () => {
      const { 'standard:disconnect': feature } = wallet.features;
      if (feature === undefined) throw new Error('it cannot be disconnected');
      await (feature as Disconnect).disconnect();
    },
    follow: followAccounts(wallet, use),
    network: async () => undefined,
    switchTo: async () => undefined,
    // Wallet Standard has no method to read balances.
    balances: async () => new Map(),
    async sign(entry, address) {
      if (account?.address !== address || entry.walletChain === undefined)
        throw new WalletProblem('walletFailed');
      const { transaction } = await askTransaction(path, { payer: address, asset: entry.accepted.asset });
      if (transaction === null) throw new WalletProblem('failedFunds');
      const validUntil = clock.now() + LIFETIME_SECONDS;
      const input = { account, chain: entry.walletChain, transaction: fromBase64(transaction) };
      const [signed] = await signer.signTransaction(input);
      if (signed === undefined) throw new WalletProblem('walletFailed');
      return { payload: { transaction: toBase64(signed.signedTransaction) }, validUntil };
    },
  };
}

/** Changes of the account are reported from the wallet's `change` event. */
function followAccounts(
  { features }: StandardWallet,
  use: (accounts: readonly Account[]) => string | undefined,
): (changes: WalletChanges) => void {
  let subscriber: WalletChanges | undefined;
  try {
    (features['standard:events'] as Events | undefined)?.on('change', ({ accounts }) => {
      if (Array.isArray(accounts)) subscriber?.account(use(accounts));
    });
  } catch {
    // A change then shows with the next request to the wallet.
  }
  return (changes) => {
    subscriber = changes;
  };
}
