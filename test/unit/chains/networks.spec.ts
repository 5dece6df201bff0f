import assert from 'node:assert/strict';
import { PublicKey } from '@solana/web3.js';
import { domainSeparator, getAddress } from 'viem';
import * as viemChains from 'viem/chains';
import {
  findNetwork,
  findNetworkByV1Name,
  findToken,
  NETWORKS,
  OFFERED_TOKENS,
  type OfferedEvmToken,
  type OfferedSvmToken,
  TOKEN_SYMBOLS,
} from '../../../shared/chains/networks/networks.js';

const EVM_TOKENS = OFFERED_TOKENS.filter((token): token is OfferedEvmToken => token.family === 'evm');
const SVM_TOKENS = OFFERED_TOKENS.filter((token): token is OfferedSvmToken => token.family === 'svm');
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

/** The first four bytes of each DOMAIN_SEPARATOR, independent of the table; most were read from the contract. */
const SEPARATORS: Record<string, string> = {
  'eip155:8453 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913': '02fa7265',
  'eip155:84532 0x036CbD53842c5426634e7929541eC2318f3dCF7e': '71f17a3b',
  'eip155:1 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48': '06c37168',
  'eip155:11155111 0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238': 'b90e5057',
  'eip155:137 0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359': 'caa2ce1a',
  'eip155:80002 0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582': '5cddc983',
  'eip155:42161 0xaf88d065e77c8cC2239327C5EDb3A432268e5831': '08d11903',
  'eip155:421614 0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d': '85944e12',
  'eip155:43114 0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E': 'bbea2003',
  'eip155:43113 0x5425890298aed601595a70AB815c96711a31Bc65': 'fe9fa105',
  'eip155:1329 0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392': '0a191361',
  'eip155:1328 0x4fCF1784B31630811181f670Aea7A7bEF803eaED': '154bb598',
  'eip155:10 0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85': '26d9c34b',
  'eip155:11155420 0x5fd84259d66Cd46123540766Be93DFE6D43130D7': '09d038a3',
  'eip155:480 0x79A02482A880bCE3F13e09Da970dC34db4CD24d1': '936533d5',
  'eip155:42220 0xcebA9300f2b948710d2653dD7B07f33A8B32118C': 'b2ce31d2',
  'eip155:143 0x754704Bc059F8C67012fEd69BC8A327a5aafb603': 'fe22123e',
  'eip155:1952 0xcB8BF24c6cE16Ad21D707c9505421a17f2bec79D': '7513e76c',
  'eip155:42161 0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9': '566af68f',
  'eip155:196 0x779Ded0c9e1022225f8E0630b35a9b54bE713736': 'd591d9ba',
  'eip155:1952 0x9e29b3AaDa05Bf2D2c827Af80Bd28Dc0b9b4FB0c': 'd2406dc8',
  'eip155:42220 0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e': 'bcb4d62e',
  'eip155:988 0x779Ded0c9e1022225f8E0630b35a9b54bE713736': 'f21cc02b',
  'eip155:14 0xe7cd86e13AC4309349F30B3435a9d337750fC82D': '4c53d754',
  'eip155:196 0x4ae46a509F6b1D9056937BA4500cb143933D2dc8': '415f0706',
  'eip155:1952 0xA78E2baaBaf5c4f36b7Fc394725Deb68D332EeC1': 'ffda0279',
  'eip155:1 0xe343167631d89B6Ffc58B88d6b7fB0228795491D': 'c27ef8fc',
  'eip155:57073 0xe343167631d89B6Ffc58B88d6b7fB0228795491D': '5de3d26c',
};

const V1_NAMES: Record<string, string> = {
  ethereum: 'eip155:1',
  sepolia: 'eip155:11155111',
  base: 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
  avalanche: 'eip155:43114',
  'avalanche-fuji': 'eip155:43113',
  sei: 'eip155:1329',
  'sei-testnet': 'eip155:1328',
  monad: 'eip155:143',
  stable: 'eip155:988',
  celo: 'eip155:42220',
  flare: 'eip155:14',
  xlayer: 'eip155:196',
  'xlayer-testnet': 'eip155:1952',
  solana: SOLANA,
  'solana-devnet': SOLANA_DEVNET,
};

const NEVER_OFFERED: Record<string, string> = {
  'USDT on Ethereum, which has no EIP-3009': 'eip155:1 0xdAC17F958D2ee523a2206206994597C13D831ec7',
  'USDT on Base, a bridge token': 'eip155:8453 0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2',
  'USDT on Polygon, which has no EIP-3009': 'eip155:137 0xc2132D05D31c914a87C6611C10748AEb04B58e8F',
  'USDT on Avalanche, which has no EIP-3009': 'eip155:43114 0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
  'the old USDT on OP Mainnet': 'eip155:10 0x94b008aA00579c1307B0EF2c499aD98a8ce58e58',
  'bridged USDC.e on X Layer': 'eip155:196 0x74b7F16337b8972027F6196A17a631aC6dE26d22',
  'USDC on Ink, whose domain is disputed': 'eip155:57073 0x2D270e6886d130D724215A266106e6832161EAEd',
  'native USDC on X Layer, whose domain has not been read':
    'eip155:196 0xB6CEceAB302E2E4948951eE7843FC24E92933061',
  'USDT0 on Stable Testnet, whose domain is disputed':
    'eip155:2201 0x78Cf24370174180738C5B8E352B6D14c83a6c9A9',
};

/** The networks of each symbol, in the order of offers. */
function offers(mode: 'live' | 'test'): Record<string, string> {
  const offered = OFFERED_TOKENS.filter(({ network }) => network.testnet === (mode === 'test'));
  const namesOf = (symbol: string): string[] =>
    offered.filter((token) => token.symbol === symbol).map(({ network }) => network.name);
  return Object.fromEntries(TOKEN_SYMBOLS.map((symbol) => [symbol, namesOf(symbol).join(', ')]));
}

describe('the token table', () => {
  describe('EVM tokens', () => {
    for (const token of EVM_TOKENS) {
      const key = `${token.network.caip2} ${token.address}`;

      it(`${token.symbol} on ${token.network.name} signs under the domain of its contract`, () => {
        const separator = domainSeparator({
          domain: { ...token.domain, chainId: token.network.chainId, verifyingContract: token.address },
        });
        assert.equal(separator.slice(2, 10), SEPARATORS[key]);
      });
    }

    it('are exactly the tokens whose separator is known', () => {
      const keys = EVM_TOKENS.map((token) => `${token.network.caip2} ${token.address}`).sort();
      assert.deepEqual(keys, Object.keys(SEPARATORS).sort());
    });

    it('have addresses with their EIP-55 checksum', () => {
      for (const { address } of EVM_TOKENS) assert.equal(address, getAddress(address.toLowerCase()));
    });

    for (const [title, key] of Object.entries(NEVER_OFFERED)) {
      it(`leave out ${title}`, () => {
        const [caip2 = '', address = ''] = key.split(' ');
        assert.equal(findToken(caip2, address), undefined);
      });
    }
  });

  describe('Solana tokens', () => {
    it('are mints of 32 bytes in base58', () => {
      assert.equal(SVM_TOKENS.length, 5);
      for (const { address } of SVM_TOKENS) {
        assert.equal(new PublicKey(address).toBase58(), address);
      }
    });

    it('are Token-2022 mints for USDG and SPL Token mints otherwise', () => {
      for (const { symbol, program } of SVM_TOKENS) {
        assert.equal(program, symbol === 'USDG' ? 'token-2022' : 'spl-token');
      }
    });
  });

  describe('the order of offering', () => {
    it('is USDC, then USDT, then USDG', () => {
      const symbols = OFFERED_TOKENS.map((token) => token.symbol);
      const inOrder = TOKEN_SYMBOLS.flatMap((symbol) => symbols.filter((other) => other === symbol));
      assert.deepEqual(symbols, inOrder);
    });

    it('has the cheap and fast networks first and Ethereum last, in live mode', () => {
      assert.deepEqual(offers('live'), {
        USDC: 'Base, Solana, Polygon, Arbitrum One, Avalanche, Sei, OP Mainnet, World Chain, Celo, Monad, Ethereum',
        USDT: 'Solana, Arbitrum One, X Layer, Celo, Stable, Flare',
        USDG: 'Solana, X Layer, Ink, Ethereum',
      });
    });

    it('has them in the same order in test mode', () => {
      assert.deepEqual(offers('test'), {
        USDC: 'Base Sepolia, Solana Devnet, Polygon Amoy, Arbitrum Sepolia, Avalanche Fuji, X Layer Testnet, Sei Testnet, OP Sepolia, Sepolia',
        USDT: 'X Layer Testnet',
        USDG: 'Solana Devnet, X Layer Testnet',
      });
    });

    it('holds every token of every network once, at six decimals', () => {
      const inNetworks = NETWORKS.flatMap((network) => network.tokens.map((token) => token.symbol));
      assert.deepEqual(OFFERED_TOKENS.map((token) => token.symbol).sort(), inNetworks.sort());
      const keys = OFFERED_TOKENS.map((token) => `${token.network.caip2} ${token.address.toLowerCase()}`);
      assert.equal(new Set(keys).size, keys.length);
      for (const token of OFFERED_TOKENS) assert.equal(token.decimals, 6);
    });
  });

  describe('networks', () => {
    it('have unique identifiers, names and environment suffixes', () => {
      for (const key of ['caip2', 'name', 'environmentSuffix', 'publicRpcUrl'] as const) {
        assert.equal(new Set(NETWORKS.map((network) => network[key])).size, NETWORKS.length, key);
      }
    });

    it('have CAIP-2 identifiers', () => {
      for (const network of NETWORKS) {
        assert.match(network.caip2, network.family === 'evm' ? /^eip155:[1-9]\d*$/ : /^solana:\w{32}$/);
        if (network.family === 'evm') assert.equal(network.caip2, `eip155:${network.chainId}`);
      }
    });

    it('are spelled in the environment as operators expect', () => {
      assert.equal(findNetwork('eip155:8453')?.environmentSuffix, 'EIP155_8453');
      assert.equal(findNetwork(SOLANA)?.environmentSuffix, 'SOLANA');
      assert.equal(findNetwork(SOLANA_DEVNET)?.environmentSuffix, 'SOLANA_DEVNET');
    });

    it("have an endpoint, an explorer and a testnet flag that viem's chain definitions know", () => {
      const chains = Object.values(viemChains).filter((chain) => 'rpcUrls' in chain);
      for (const network of NETWORKS) {
        if (network.family !== 'evm') continue;
        const known = chains.filter((chain) => chain.id === network.chainId);
        const endpoints: string[] = known.flatMap((chain) => [...chain.rpcUrls.default.http]);
        const explorers: string[] = known.map((chain) => `${chain.blockExplorers?.default.url}/tx/{tx}`);
        assert.ok(endpoints.includes(network.publicRpcUrl), network.publicRpcUrl);
        assert.ok(explorers.includes(network.transactionUrlTemplate), network.transactionUrlTemplate);
        assert.deepEqual([...new Set(known.map((chain) => chain.testnet === true))], [network.testnet]);
      }
    });

    it('map to their version 1 names and back', () => {
      const named = NETWORKS.filter((network) => network.v1Name !== null);
      assert.equal(named.length, Object.keys(V1_NAMES).length);
      for (const [name, caip2] of Object.entries(V1_NAMES)) {
        assert.equal(findNetworkByV1Name(name)?.caip2, caip2);
        assert.equal(findNetwork(caip2)?.v1Name, name);
      }
    });
  });
});
