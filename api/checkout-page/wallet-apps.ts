/**
 * Deep links that open a page in the browser of a wallet app. They work when tapped, not when typed into the
 * address bar.
 */
interface WalletApp {
  name: string;
  families: readonly ('evm' | 'svm')[];
  url(link: URL): string;
}

const encoded = (text: string): string => encodeURIComponent(text);

const APPS: readonly WalletApp[] = [
  {
    name: 'MetaMask',
    families: ['evm', 'svm'],
    url: ({ host, pathname, search }) => `https://link.metamask.io/dapp/${host}${pathname}${search}`,
  },
  {
    name: 'Phantom',
    families: ['evm', 'svm'],
    url: ({ href, origin }) => `https://phantom.app/ul/browse/${encoded(href)}?ref=${encoded(origin)}`,
  },
  {
    name: 'Base',
    families: ['evm', 'svm'],
    url: ({ href }) => `https://go.cb-w.com/dapp?cb_url=${encoded(href)}`,
  },
  {
    name: 'Trust Wallet',
    families: ['evm'],
    url: ({ href }) => `https://link.trustwallet.com/open_url?coin_id=60&url=${encoded(href)}`,
  },
  {
    name: 'OKX Wallet',
    families: ['evm', 'svm'],
    url: ({ href }) =>
      `https://web3.okx.com/download?deeplink=${encoded(`okx://wallet/dapp/url?dappUrl=${encoded(href)}`)}`,
  },
  {
    name: 'Solflare',
    families: ['svm'],
    url: ({ href, origin }) => `https://solflare.com/ul/v1/browse/${encoded(href)}?ref=${encoded(origin)}`,
  },
];

export function walletApps(
  link: string,
  families: ReadonlySet<'evm' | 'svm'>,
): { name: string; url: string }[] {
  const page = new URL(link);
  return APPS.filter((app) => app.families.some((family) => families.has(family))).map((app) => ({
    name: app.name,
    url: app.url(page),
  }));
}
