import { isSameAddress } from './text-forms.js';

/**
 * The token table. It holds a token only when its EIP-712 domain, or its mint, is established: a signature under a wrong
 * name or version is worthless. All EVM tokens have EIP-3009 (so no USDT on Ethereum, Base, Polygon or Avalanche), and none
 * is a bridged "USDC.e". The order of the table is the order of `accepts`: symbols as in TOKEN_SYMBOLS, within a symbol
 * the networks as listed, cheap and fast networks first, because a client may take the first entry that it can pay.
 */
export const TOKEN_SYMBOLS = ['USDC', 'USDT', 'USDG'] as const;
export type TokenSymbol = (typeof TOKEN_SYMBOLS)[number];
export type Network = EvmNetwork | SvmNetwork;
export type NetworkFamily = Network['family'];
export type OfferedEvmToken = EvmToken & { readonly family: 'evm'; readonly network: EvmNetwork };
export type OfferedSvmToken = SvmToken & { readonly family: 'svm'; readonly network: SvmNetwork };
export type OfferedToken = OfferedEvmToken | OfferedSvmToken;

interface EvmToken {
  readonly symbol: TokenSymbol;
  /** The token contract, with its EIP-55 checksum. */
  readonly address: `0x${string}`;
  readonly decimals: number;
  readonly domain: { readonly name: string; readonly version: string };
}

export interface SvmToken {
  readonly symbol: TokenSymbol;
  /** The mint. */
  readonly address: string;
  readonly decimals: number;
  readonly program: 'spl-token' | 'token-2022';
}

interface NetworkFacts {
  readonly caip2: string;
  readonly name: string;
  readonly testnet: boolean;
  /** Its name in x402 version 1; null when that version has none. */
  readonly v1Name: string | null;
  readonly publicRpcUrl: string;
  /** `{tx}` is the placeholder of the transaction. */
  readonly transactionUrlTemplate: string;
  /** The suffix of RPC_URL_<suffix>, EXPLORER_URL_<suffix> and CONFIRMATIONS_<suffix>. */
  readonly environmentSuffix: string;
}

export interface EvmNetwork extends NetworkFacts {
  readonly family: 'evm';
  readonly chainId: number;
  readonly tokens: readonly EvmToken[];
}

export interface SvmNetwork extends NetworkFacts {
  readonly family: 'svm';
  readonly tokens: readonly SvmToken[];
}

/** Endpoint and explorer as in viem's chain definitions, without their https scheme. */
type EvmRow = [
  id: number,
  name: string,
  v1Name: string | null,
  rpc: string,
  explorer: string,
  tokens: EvmToken[],
];

const MAINNETS: readonly Network[] = [
  live(8453, 'Base', 'base', 'mainnet.base.org', 'basescan.org', [
    usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'USD Coin'),
  ]),
  {
    family: 'svm',
    caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    name: 'Solana',
    testnet: false,
    v1Name: 'solana',
    publicRpcUrl: 'https://api.mainnet-beta.solana.com',
    transactionUrlTemplate: 'https://explorer.solana.com/tx/{tx}',
    environmentSuffix: 'SOLANA',
    tokens: [
      mint('USDC', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'spl-token'),
      mint('USDT', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB', 'spl-token'),
      mint('USDG', '2u1tszSeqZ3qBWF3uNGPFc8TzMk2tdiwknnRMWGWjGWH', 'token-2022'),
    ],
  },
  live(137, 'Polygon', 'polygon', 'polygon.drpc.org', 'polygonscan.com', [
    usdc('0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'USD Coin'),
  ]),
  live(42161, 'Arbitrum One', null, 'arb1.arbitrum.io/rpc', 'arbiscan.io', [
    usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831', 'USD Coin'),
    usdt('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', 'USD₮0'),
  ]),
  live(43114, 'Avalanche', 'avalanche', 'api.avax.network/ext/bc/C/rpc', 'snowtrace.io', [
    usdc('0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'USD Coin'),
  ]),
  live(196, 'X Layer', 'xlayer', 'xlayerrpc.okx.com', 'www.oklink.com/xlayer', [
    usdt('0x779Ded0c9e1022225f8E0630b35a9b54bE713736', 'USD₮0'),
    usdg('0x4ae46a509F6b1D9056937BA4500cb143933D2dc8'),
  ]),
  live(1329, 'Sei', 'sei', 'evm-rpc.sei-apis.com/', 'seiscan.io', [
    usdc('0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392', 'USDC'),
  ]),
  live(10, 'OP Mainnet', null, 'mainnet.optimism.io', 'optimistic.etherscan.io', [
    usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85', 'USD Coin'),
  ]),
  live(480, 'World Chain', null, 'worldchain-mainnet.g.alchemy.com/public', 'worldscan.org', [
    usdc('0x79A02482A880bCE3F13e09Da970dC34db4CD24d1', 'USDC'),
  ]),
  live(42220, 'Celo', 'celo', 'forno.celo.org', 'celoscan.io', [
    usdc('0xcebA9300f2b948710d2653dD7B07f33A8B32118C', 'USDC'),
    usdt('0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e', 'Tether USD'),
  ]),
  live(143, 'Monad', 'monad', 'rpc.monad.xyz', 'monadscan.com', [
    usdc('0x754704Bc059F8C67012fEd69BC8A327a5aafb603', 'USDC'),
  ]),
  live(988, 'Stable', 'stable', 'rpc.stable.xyz', 'stablescan.xyz', [
    usdt('0x779Ded0c9e1022225f8E0630b35a9b54bE713736', 'USDT0'),
  ]),
  live(14, 'Flare', 'flare', 'flare-api.flare.network/ext/C/rpc', 'flare-explorer.flare.network', [
    usdt('0xe7cd86e13AC4309349F30B3435a9d337750fC82D', 'USD₮0'),
  ]),
  live(57073, 'Ink', null, 'rpc-gel.inkonchain.com', 'explorer.inkonchain.com', [
    usdg('0xe343167631d89B6Ffc58B88d6b7fB0228795491D'),
  ]),
  live(1, 'Ethereum', 'ethereum', 'ethereum.reth.rs/rpc', 'etherscan.io', [
    usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 'USD Coin'),
    usdg('0xe343167631d89B6Ffc58B88d6b7fB0228795491D'),
  ]),
];

const TESTNETS: readonly Network[] = [
  test(84532, 'Base Sepolia', 'base-sepolia', 'sepolia.base.org', 'sepolia.basescan.org', [
    usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'USDC'),
  ]),
  {
    family: 'svm',
    caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    name: 'Solana Devnet',
    testnet: true,
    v1Name: 'solana-devnet',
    publicRpcUrl: 'https://api.devnet.solana.com',
    transactionUrlTemplate: 'https://explorer.solana.com/tx/{tx}?cluster=devnet',
    environmentSuffix: 'SOLANA_DEVNET',
    tokens: [
      mint('USDC', '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'spl-token'),
      mint('USDG', '4F6PM96JJxngmHnZLBh9n58RH4aTVNWvDs2nuwrT5BP7', 'token-2022'),
    ],
  },
  test(80002, 'Polygon Amoy', 'polygon-amoy', 'polygon-amoy.drpc.org', 'amoy.polygonscan.com', [
    usdc('0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582', 'USDC'),
  ]),
  test(421614, 'Arbitrum Sepolia', null, 'sepolia-rollup.arbitrum.io/rpc', 'sepolia.arbiscan.io', [
    usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d', 'USD Coin'),
  ]),
  test(
    43113,
    'Avalanche Fuji',
    'avalanche-fuji',
    'api.avax-test.network/ext/bc/C/rpc',
    'testnet.snowtrace.io',
    [usdc('0x5425890298aed601595a70AB815c96711a31Bc65', 'USD Coin')],
  ),
  test(1952, 'X Layer Testnet', 'xlayer-testnet', 'xlayertestrpc.okx.com', 'www.oklink.com/xlayer-test', [
    usdc('0xcB8BF24c6cE16Ad21D707c9505421a17f2bec79D', 'USDC_TEST'),
    usdt('0x9e29b3AaDa05Bf2D2c827Af80Bd28Dc0b9b4FB0c', 'USD₮0'),
    usdg('0xA78E2baaBaf5c4f36b7Fc394725Deb68D332EeC1'),
  ]),
  test(1328, 'Sei Testnet', 'sei-testnet', 'evm-rpc-testnet.sei-apis.com', 'testnet.seiscan.io', [
    usdc('0x4fCF1784B31630811181f670Aea7A7bEF803eaED', 'USDC'),
  ]),
  test(11155420, 'OP Sepolia', null, 'sepolia.optimism.io', 'optimism-sepolia.blockscout.com', [
    usdc('0x5fd84259d66Cd46123540766Be93DFE6D43130D7', 'USDC'),
  ]),
  test(11155111, 'Sepolia', 'sepolia', '11155111.rpc.thirdweb.com', 'sepolia.etherscan.io', [
    usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238', 'USDC'),
  ]),
];

export const NETWORKS: readonly Network[] = [...MAINNETS, ...TESTNETS];

export const OFFERED_TOKENS: readonly OfferedToken[] = TOKEN_SYMBOLS.flatMap((symbol) =>
  NETWORKS.flatMap(offeredTokens).filter((token) => token.symbol === symbol),
);

const BY_CAIP2 = new Map(NETWORKS.map((network) => [network.caip2, network]));
const BY_V1_NAME = new Map(NETWORKS.map((network) => [network.v1Name, network]));

export function findNetwork(caip2: string): Network | undefined {
  return BY_CAIP2.get(caip2);
}

export function findNetworkByV1Name(name: string): Network | undefined {
  return BY_V1_NAME.get(name);
}

export function findToken(caip2: string, asset: string): OfferedToken | undefined {
  return OFFERED_TOKENS.find(
    ({ network, address }) => network.caip2 === caip2 && isSameAddress(caip2, address, asset),
  );
}

/** The network's endpoint: `rpcUrls` has one by environment suffix, or it is the public one. */
export function rpcUrlOf(
  rpcUrls: ReadonlyMap<string, string>,
  { environmentSuffix, publicRpcUrl }: Network,
): string {
  return rpcUrls.get(environmentSuffix) ?? publicRpcUrl;
}

/** How many confirmations a payment needs: `confirmations` has the settings by environment suffix. */
export function confirmationsOf(confirmations: ReadonlyMap<string, number>, caip2: string): number {
  const suffix = BY_CAIP2.get(caip2)?.environmentSuffix;
  return suffix === undefined ? 0 : (confirmations.get(suffix) ?? 0);
}

/** A network that was removed from the table is named by its CAIP-2 id, for old payments. */
export function networkName(caip2: string): string {
  return BY_CAIP2.get(caip2)?.name ?? caip2;
}

/** Explorers of EXPLORER_URL_<suffix>, by that suffix. A process chooses once, with the rest of its settings. */
let ownExplorers: ReadonlyMap<string, string> = new Map();

export function useExplorers(templates: ReadonlyMap<string, string>): void {
  ownExplorers = templates;
}

/** Null when the table does not have the network, or when the facilitator's text cannot be a transaction. */
export function transactionUrl(caip2: string, transaction: string): string | null {
  const network = BY_CAIP2.get(caip2);
  if (network === undefined || !/^[0-9A-Za-z]+$/.test(transaction)) return null;
  const template = ownExplorers.get(network.environmentSuffix) ?? network.transactionUrlTemplate;
  return template.replace('{tx}', transaction);
}

function live(...row: EvmRow): EvmNetwork {
  return { ...evmNetwork(row), testnet: false };
}

function test(...row: EvmRow): EvmNetwork {
  return { ...evmNetwork(row), testnet: true };
}

function evmNetwork([chainId, name, v1Name, rpc, explorer, tokens]: EvmRow): Omit<EvmNetwork, 'testnet'> {
  return {
    family: 'evm',
    caip2: `eip155:${chainId}`,
    chainId,
    name,
    v1Name,
    publicRpcUrl: `https://${rpc}`,
    transactionUrlTemplate: `https://${explorer}/tx/{tx}`,
    environmentSuffix: `EIP155_${chainId}`,
    tokens,
  };
}

function usdc(address: `0x${string}`, domainName: string): EvmToken {
  return { symbol: 'USDC', address, decimals: 6, domain: { name: domainName, version: '2' } };
}

function usdt(address: `0x${string}`, domainName: string): EvmToken {
  return { symbol: 'USDT', address, decimals: 6, domain: { name: domainName, version: '1' } };
}

/** The domain is fixed in Paxos' source. It has not been read from the chain on Ethereum, Ink and X Layer Testnet. */
function usdg(address: `0x${string}`): EvmToken {
  return { symbol: 'USDG', address, decimals: 6, domain: { name: 'Global Dollar', version: '1' } };
}

function mint(symbol: TokenSymbol, address: string, program: SvmToken['program']): SvmToken {
  return { symbol, address, decimals: 6, program };
}

function offeredTokens(network: Network): OfferedToken[] {
  return network.family === 'evm'
    ? network.tokens.map((token) => ({ ...token, family: network.family, network }))
    : network.tokens.map((token) => ({ ...token, family: network.family, network }));
}

/** Upper bound of the time in which a Solana transaction can land: a blockhash is valid for 150 blocks, 60 to 90 s. */
export const SOLANA_LIFETIME_MS = 180_000;
