import assert from 'node:assert/strict';
import { narrow, readWanted, renderAccepts } from '../../api/link/fit-accepts.js';
import { findToken, OFFERED_TOKENS } from '../../shared/chains/networks.js';
import { centsToTokenAmount } from '../../shared/values/money.js';
import type { PaymentRequirements } from '../../shared/x402/wire.js';

const ENTRIES: PaymentRequirements[] = OFFERED_TOKENS.filter(({ network }) => !network.testnet).map(
  (token) => ({
    scheme: 'exact',
    network: token.network.caip2,
    amount: centsToTokenAmount(450, token.decimals).toString(),
    asset: token.address,
    payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  }),
);
const [FIRST] = ENTRIES;

const symbolOf = ({ network, asset }: PaymentRequirements) => findToken(network, asset)?.symbol;

describe('the entries of a 402', () => {
  it('are all there with room for them, but never more than twenty', () => {
    assert.ok(ENTRIES.length > 20);
    const kept = JSON.parse(renderAccepts(ENTRIES, 100_000));
    assert.equal(kept.length, 20);
    assert.deepEqual(JSON.parse(renderAccepts(ENTRIES.slice(0, 5), 100_000)), ENTRIES.slice(0, 5));
  });

  it('fill the room in their order, with one of each token while three fit', () => {
    const [most] = ENTRIES.map((entry) => JSON.stringify(entry).length + 1).sort((a, b) => b - a);
    for (let room = 3 * (most ?? 0) + 2; room < 6000; room += 1) {
      const json = renderAccepts(ENTRIES, room);
      const kept: PaymentRequirements[] = JSON.parse(json);
      assert.ok(json.length <= room, `${json.length} of ${room}`);
      assert.deepEqual([...new Set(kept.map(symbolOf))], ['USDC', 'USDT', 'USDG']);
      const places = kept.map((entry) =>
        ENTRIES.findIndex(({ asset, network }) => asset === entry.asset && network === entry.network),
      );
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
      );
      const left = ENTRIES.filter((_, place) => !places.includes(place));
      const isFull = left.every((entry) => json.length + 1 + JSON.stringify(entry).length > room);
      assert.ok(isFull || kept.length === 20, `${room}`);
    }
  });

  it('are one at least', () => {
    for (const room of [-5000, 0, 10]) assert.deepEqual(JSON.parse(renderAccepts(ENTRIES, room)), [FIRST]);
    assert.equal(renderAccepts([], 1000), '[]');
  });
});

describe('what a link is asked for', () => {
  const of = (query: string): string[] => {
    const wanted = readWanted(`/cs_1${query}`);
    return (wanted === undefined ? ENTRIES : narrow(ENTRIES, wanted)).map(
      (entry) => `${symbolOf(entry)} ${entry.network}`,
    );
  };
  const everything = of('');

  it('is everything without parameters, and with others', () => {
    assert.equal(everything.length, ENTRIES.length);
    assert.deepEqual(of('?lang=de'), everything);
    assert.deepEqual(of('?'), everything);
  });

  it('is a network by its CAIP-2 id', () => {
    assert.deepEqual(of('?network=eip155:42161'), ['USDC eip155:42161', 'USDT eip155:42161']);
    assert.deepEqual(of('?network=eip155%3A42161&lang=de'), of('?network=eip155:42161'));
  });

  it('is a token by its symbol or address, of any case on EVM', () => {
    assert.deepEqual(
      of('?token=USDT'),
      everything.filter((entry) => entry.startsWith('USDT')),
    );
    assert.deepEqual(of('?token=usdt'), of('?token=USDT'));
    assert.deepEqual(of(`?token=${FIRST?.asset.toLowerCase()}`), ['USDC eip155:8453']);
  });

  it('is both, or one of several', () => {
    assert.deepEqual(of('?token=USDT&network=eip155:42161'), ['USDT eip155:42161']);
    assert.deepEqual(of('?network=eip155:8453&network=eip155:137'), ['USDC eip155:8453', 'USDC eip155:137']);
  });

  it('is nothing when it is not offered', () => {
    assert.deepEqual(of('?network=eip155:5'), []);
    assert.deepEqual(of('?token='), []);
  });
});
