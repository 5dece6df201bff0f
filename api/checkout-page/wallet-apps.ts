/**
 * Deep links that open a page in the browser of a wallet app, each in the form that its maker documents. They work when
 * tapped or scanned, not when typed into the address bar.
 */
interface WalletApp {
  /** The app's name in marks.ts and in the URL of its QR code. */
  key: string;
  name: string;
  families: readonly ('evm' | 'svm')[];
  url(link: URL): string;
}

const encoded = (text: string): string => encodeURIComponent(text);

const APPS = [
  {
    key: 'metamask',
    name: 'MetaMask',
    families: ['evm', 'svm'],
    url: ({ host, pathname, search }) => `https://link.metamask.io/dapp/${host}${pathname}${search}`,
  },
  {
    key: 'phantom',
    name: 'Phantom',
    families: ['evm', 'svm'],
    url: ({ href, origin }) => `https://phantom.app/ul/browse/${encoded(href)}?ref=${encoded(origin)}`,
  },
  {
    key: 'base',
    name: 'Base (Coinbase Wallet)',
    families: ['evm', 'svm'],
    url: ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encoded(href)}`,
  },
  {
    key: 'trust',
    name: 'Trust',
    families: ['evm'],
    url: ({ href }) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded(href)}`,
  },
  {
    key: 'okx',
    name: 'OKX',
    families: ['evm', 'svm'],
    url: ({ href }) =>
      `https://web3.okx.com/download?deeplink=${encoded(`okx://wallet/dapp/url?dappUrl=${encoded(href)}`)}`,
  },
  {
    key: 'rainbow',
    name: 'Rainbow',
    families: ['evm'],
    url: ({ href }) => `https://rnbwapp.com/dapp?url=${encoded(href)}`,
  },
  {
    key: 'bitget',
    name: 'Bitget',
    families: ['evm', 'svm'],
    url: ({ href }) => `https://bkcode.vip?action=dapp&url=${encoded(href)}`,
  },
  {
    key: 'solflare',
    name: 'Solflare',
    families: ['svm'],
    url: ({ href, origin }) => `https://solflare.com/ul/v1/browse/${encoded(href)}?ref=${encoded(origin)}`,
  },
] as const satisfies readonly WalletApp[];

export type WalletAppKey = (typeof APPS)[number]['key'];

/** Since October 2026 its browser opens no link from outside, but a link that is pasted there. */
export const WITHOUT_A_LINK = ['Binance Wallet'];
/** Apps without a browser connect to a page by WalletConnect only. */
export const WITHOUT_A_BROWSER = ['Ledger Wallet', 'Safe'];

export interface AppLink {
  key: WalletAppKey;
  name: string;
  url: string;
}

export function walletApps(link: string, families: ReadonlySet<'evm' | 'svm'>): AppLink[] {
  const page = new URL(link);
  // An app for Solana alone is one of many where other networks are offered too.
  const fits = ({ families: own }: WalletApp): boolean =>
    families.has('evm') ? own.includes('evm') : own.includes('svm');
  return APPS.filter(fits).map(({ key, name, url }) => ({ key, name, url: url(page) }));
}

/** The link that opens this page in one app; undefined for an unknown app. */
export function walletAppUrl(key: string, link: string): string | undefined {
  return APPS.find((app) => app.key === key)?.url(new URL(link));
}
