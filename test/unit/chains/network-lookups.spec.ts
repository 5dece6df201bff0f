import assert from 'node:assert/strict';
import {
  findNetwork,
  findNetworkByV1Name,
  findToken,
  NETWORKS,
  networkName,
  transactionUrl,
  useExplorers,
} from '../../../shared/chains/networks/networks.js';

const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

describe('lookups in the token table', () => {
  const evmTransaction = `0x${'ab'.repeat(32)}`;
  const signature = '5'.repeat(88);

  it('find nothing for an unknown identifier, name or asset', () => {
    assert.equal(findNetwork('eip155:99999'), undefined);
    assert.equal(findNetwork('base'), undefined);
    assert.equal(findNetworkByV1Name('eip155:8453'), undefined);
    assert.equal(findNetworkByV1Name('solana-testnet'), undefined);
    assert.equal(findToken('eip155:99999', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'), undefined);
    assert.equal(findToken('eip155:8453', ''), undefined);
  });

  it('find an EVM token by its address in any case', () => {
    const token = findToken('eip155:8453', '0x833589FCD6EDB6E08F4C7C32D4F71B54BDA02913');
    assert.equal(token?.address, '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913');
    assert.equal(token?.symbol, 'USDC');
    assert.equal(token?.network, findNetwork('eip155:8453'));
  });

  it('find a token only on its own network, although another network has the same address', () => {
    const address = '0x779Ded0c9e1022225f8E0630b35a9b54bE713736';
    assert.equal(findToken('eip155:196', address)?.network.name, 'X Layer');
    assert.equal(findToken('eip155:988', address)?.network.name, 'Stable');
    assert.equal(findToken('eip155:8453', address), undefined);
  });

  it('find a mint by its exact spelling only', () => {
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
    assert.equal(findToken(SOLANA, mint)?.symbol, 'USDC');
    assert.equal(findToken(SOLANA, mint.toLowerCase()), undefined);
    assert.equal(findToken(SOLANA_DEVNET, mint), undefined);
  });

  it('name a network, and an unknown one by its identifier', () => {
    assert.equal(networkName('eip155:84532'), 'Base Sepolia');
    assert.equal(networkName('eip155:99999'), 'eip155:99999');
  });

  it("link a transaction in its network's explorer", () => {
    for (const [network, transaction, url] of [
      ['eip155:8453', evmTransaction, `https://basescan.org/tx/${evmTransaction}`],
      ['eip155:196', evmTransaction, `https://www.oklink.com/xlayer/tx/${evmTransaction}`],
      [SOLANA, signature, `https://explorer.solana.com/tx/${signature}`],
      [SOLANA_DEVNET, signature, `https://explorer.solana.com/tx/${signature}?cluster=devnet`],
      ['eip155:99999', evmTransaction, null],
    ] as const)
      assert.equal(transactionUrl(network, transaction), url);
  });

  it('link to an https page with the transaction in its path on every network', () => {
    for (const network of NETWORKS) {
      const url = new URL(transactionUrl(network.caip2, signature) ?? '');
      assert.equal(url.protocol, 'https:');
      assert.ok(url.pathname.endsWith(`/tx/${signature}`));
    }
  });

  it('link a transaction in the explorer that is set for its network', () => {
    useExplorers(new Map([['SOLANA_DEVNET', 'http://localhost:4022/tx/{tx}']]));
    try {
      assert.equal(transactionUrl(SOLANA_DEVNET, signature), `http://localhost:4022/tx/${signature}`);
      assert.equal(transactionUrl(SOLANA, signature), `https://explorer.solana.com/tx/${signature}`);
      assert.equal(transactionUrl(SOLANA_DEVNET, '{tx}'), null);
    } finally {
      useExplorers(new Map());
    }
  });

  for (const text of ['', '../../login', 'a?b', 'x"><script>', '{tx}', '\ud800', 'pending settlement']) {
    it(`link nothing when the facilitator reports ${JSON.stringify(text)} as a transaction`, () => {
      assert.equal(transactionUrl('eip155:8453', text), null);
    });
  }
});
