import type { WalletAppKey } from './wallet-apps.js';

/**
 * Small drawings of tokens, networks and wallets, 16 by 16, hidden from screen readers: the name is always beside them. A
 * page defines each drawing once, and shows it by reference. The style sheet makes them unfilled, with round ends.
 */
const disc = (color: string, inner: string): string =>
  `<circle cx="8" cy="8" r="8" fill="${color}"/>${inner}`;
const tile = (color: string, inner: string): string =>
  `<rect width="16" height="16" rx="4" fill="${color}"/>${inner}`;
const line = (d: string, width = 1.4, color = '#fff'): string =>
  `<path stroke="${color}" stroke-width="${width}" d="${d}"/>`;
const shape = (d: string, color = '#fff'): string => `<path fill="${color}" d="${d}"/>`;
const ring = (radius: number, width = 1.5, color = '#fff'): string =>
  `<circle cx="8" cy="8" r="${radius}" stroke="${color}" stroke-width="${width}"/>`;

/** Shared drawings, which compress to nothing the second time. */
const CHECKER = shape(
  'M4 4h2.6v2.6H4zM9.4 4H12v2.6H9.4zM6.7 6.7h2.6v2.6H6.7zM4 9.4h2.6V12H4zM9.4 9.4H12V12H9.4z',
);
const BASE = `<circle cx="8" cy="8" r="4.8" fill="#fff"/>${line('M2.5 8H9', 1.3, '#0052ff')}`;

const TOKENS: Readonly<Record<string, string>> = {
  USDC: disc(
    '#2775ca',
    line(
      'M6 3.1a5.2 5.2 0 0 0 0 9.8M10 3.1a5.2 5.2 0 0 1 0 9.8M9.9 6.6C9.6 5.4 6.3 5.3 6.3 6.9S9.9 7.7 9.9 9.3 6.4 10.8 6.1 9.4M8 4.5v7',
      1.1,
    ),
  ),
  USDT: disc('#26a17b', line('M4.5 4.5h7M8 4.6v7.4M3.6 8c0 1.4 8.8 1.4 8.8 0S3.6 6.6 3.6 8z', 1.2)),
  USDG: disc('#141414', line('M11 5.4a4 4 0 1 0 .9 2.8H8.4', 1.5)),
};

/** Drawings by network; a testnet has the drawing of its main network. */
const NETWORK_DRAWINGS = {
  base: disc('#0052ff', BASE),
  solana: disc(
    '#111',
    shape('M5.3 4h6.9l-1.5 1.7H3.8z', '#19fb9b') +
      shape('M3.8 7.1h6.9l1.5 1.7H5.3z', '#6f8bff') +
      shape('M5.3 10.3h6.9L10.7 12H3.8z', '#c44bff'),
  ),
  polygon: disc('#8247e5', line('M8 3.9 11.5 6v4L8 12.1 4.5 10V6z', 1.5)),
  arbitrum: disc('#213147', line('M5 11.5 8 4l3 7.5', 1.7, '#28a0f0') + line('m7 11.5 1.7-4.3')),
  avalanche: disc('#e84142', shape('M8 3.6 9.6 6.5 6.9 11.6H3.6zM10.6 8.3l1.9 3.3H8.7z')),
  xlayer: disc('#000', CHECKER),
  sei: disc('#9e1f19', line('M3 9.4c2-2.6 3.4-2.6 5 0s3 2.6 5 0M4 6.6c1.6-2 2.8-2 4.2 0s2.4 1.8 3.6.4', 1.2)),
  optimism: disc(
    '#ff0420',
    line('M5.4 6.2a1.8 1.8 0 1 0 .1 3.6 1.8 1.8 0 0 0-.1-3.6zM9 10.2V6.2h1.6a1.3 1.3 0 1 1 0 2.6H9.2', 1.3),
  ),
  world: disc('#000', ring(4.6, 1.2) + line('M3.6 8h8.8', 1.2)),
  celo: disc('#fcff52', ring(3.7, 1.8, '#111')),
  monad: disc('#6e54ff', line('M8 4.2 11.8 8 8 11.8 4.2 8z', 1.8)),
  stable: disc('#0b3d2e', line('M4.6 6h6.8M4.6 8h6.8M4.6 10h6.8', 1.2)),
  flare: disc(
    '#e62058',
    shape('M4.5 4.4h7a2 2 0 0 1-2 2h-5zM4.5 7.6H9a2 2 0 0 1-2 2H4.5zM4.5 10.8a1 1 0 1 1 0 .1z'),
  ),
  ink: disc('#7132f5', ring(3.4, 2)),
  ethereum: disc('#627eea', shape('M8 2.6 11.3 8 8 10 4.7 8zM8 10.9 11.3 8.9 8 13.4 4.7 8.9z')),
} as const;

type NetworkDrawing = keyof typeof NETWORK_DRAWINGS;

const NETWORKS: Readonly<Record<string, NetworkDrawing>> = {
  'eip155:8453': 'base',
  'eip155:84532': 'base',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana',
  'eip155:137': 'polygon',
  'eip155:80002': 'polygon',
  'eip155:42161': 'arbitrum',
  'eip155:421614': 'arbitrum',
  'eip155:43114': 'avalanche',
  'eip155:43113': 'avalanche',
  'eip155:196': 'xlayer',
  'eip155:1952': 'xlayer',
  'eip155:1329': 'sei',
  'eip155:1328': 'sei',
  'eip155:10': 'optimism',
  'eip155:11155420': 'optimism',
  'eip155:480': 'world',
  'eip155:42220': 'celo',
  'eip155:143': 'monad',
  'eip155:988': 'stable',
  'eip155:14': 'flare',
  'eip155:57073': 'ink',
  'eip155:1': 'ethereum',
  'eip155:11155111': 'ethereum',
};

const WALLETS: Readonly<Record<WalletAppKey, string>> = {
  metamask: tile(
    '#ffe9d6',
    shape('m3 3.4 4 2.4h2l4-2.4-.8 4.4.8 2.4-1 2.6-2.5-.8L8 13l-1.5-1-2.5.8-1-2.6.8-2.4z', '#f6851b') +
      shape('m5.2 8.2 1.9.6-.3.9zM10.8 8.2l-1.9.6.3.9z', '#23262b'),
  ),
  phantom: tile(
    '#ab9ff2',
    shape(
      'M12.6 8.2c0-3-2-4.8-4.6-4.8S3.2 5.6 3.2 9c0 2 .8 3.4 2 3.4s1.8-1.4 2.4-1.4 0 1.2 1.2 1.2 1.4-1.2 2-1.2 1.8.6 1.8-2.8z',
    ) + shape('M8 6.4h1v2H8zM10.2 6.4h1v2h-1z', '#3c315b'),
  ),
  base: tile('#0052ff', BASE),
  trust: tile(
    '#fff',
    shape('M8 2.6 12.6 4.2c0 4.8-1.6 7.4-4.6 9z', '#48ff91') +
      shape('M8 2.6 3.4 4.2c0 4.8 1.6 7.4 4.6 9z', '#0500ff'),
  ),
  okx: tile('#000', CHECKER),
  rainbow: tile(
    '#174299',
    line('M4 12a8 8 0 0 1 8-8', 1.6, '#ff4000') +
      line('M6.3 12A5.7 5.7 0 0 1 12 6.3', 1.6, '#ffd000') +
      line('M8.6 12A3.4 3.4 0 0 1 12 8.6', 1.6, '#00aaff'),
  ),
  bitget: tile('#00f0ff', line('m8.8 3.2-4 4 4 4M7.2 4.8l4 4-4 4', 1.7, '#0b0f14')),
  solflare: tile(
    '#ffef46',
    `<circle cx="8" cy="8" r="2.6" fill="#02050a"/>${line('M8 2.8v1.4M8 11.8v1.4M2.8 8h1.4M11.8 8h1.4M4.3 4.3l1 1M10.7 10.7l1 1M4.3 11.7l1-1M10.7 5.3l1-1', 1.2, '#02050a')}`,
  ),
};

/** A network that has no drawing yet. */
const PLAIN = disc('#8a93a3', ring(3.5));

/** The drawings of one page. */
export class Marks {
  readonly #used = new Map<string, string>();

  token(symbol: string): string {
    return this.#show(`t-${symbol.toLowerCase()}`, TOKENS[symbol] ?? PLAIN);
  }

  network(caip2: string): string {
    const name = NETWORKS[caip2];
    return name === undefined ? this.#show('n', PLAIN) : this.#show(`n-${name}`, NETWORK_DRAWINGS[name]);
  }

  wallet(key: WalletAppKey): string {
    return this.#show(`w-${key}`, WALLETS[key]);
  }

  /** Empty when none was shown. */
  definitions(): string {
    if (this.#used.size === 0) return '';
    const symbols = [...this.#used].map(
      ([id, drawing]) => `<symbol id="${id}" viewBox="0 0 16 16">${drawing}</symbol>`,
    );
    return `<svg hidden>${symbols.join('')}</svg>`;
  }

  #show(id: string, drawing: string): string {
    this.#used.set(id, drawing);
    return `<svg class="mark" aria-hidden="true"><use href="#${id}"/></svg>`;
  }
}
