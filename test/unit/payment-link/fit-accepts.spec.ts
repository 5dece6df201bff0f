import assert from 'node:assert/strict';
import { filterAccepts, fitTerms, readAcceptsFilter } from '../../../api/payment-link/http/fit-accepts.js';
import { findToken, OFFERED_TOKENS } from '../../../shared/chains/networks/networks.js';
import { centsToTokenAmount } from '../../../shared/values/money.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { withoutHints } from '../../support/checkout.js';

const ENTRIES: PaymentRequirements[] = OFFERED_TOKENS.filter(({ network }) => !network.testnet).map(
  (token) => ({
    scheme: 'exact',
    network: token.network.caip2,
    amount: centsToTokenAmount(450, token.decimals).toString(),
    asset: token.address,
    payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
    maxTimeoutSeconds: 300,
    extra:
      token.family === 'evm'
        ? { name: 'USD Coin', version: '2' }
        : { feePayer: '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g' },
  }),
);
const acceptsOf = (entries: PaymentRequirements[], room: number): PaymentRequirements[] =>
  JSON.parse(fitTerms(entries, room).accepts);

const symbolOf = ({ network, asset }: PaymentRequirements) => findToken(network, asset)?.symbol;

describe('the entries of a 402', () => {
  it('are all there with room for them, but never more than twenty', () => {
    assert.ok(ENTRIES.length > 20);
    const kept = acceptsOf(ENTRIES, 100_000);
    assert.equal(kept.length, 20);
    assert.deepEqual(acceptsOf(ENTRIES.slice(0, 5), 100_000).map(withoutHints), ENTRIES.slice(0, 5));
  });

  it('fill the room in their order, with one of each token while three fit', () => {
    const [most] = ENTRIES.map((entry) => JSON.stringify(entry).length + 1).sort((a, b) => b - a);
    for (let room = 3 * (most ?? 0) + 2; room < 6000; room += 1) {
      const { accepts: json, offers } = fitTerms(ENTRIES, room);
      assert.equal(offers, undefined);
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
    for (const room of [-5000, 0, 10]) assert.deepEqual(acceptsOf(ENTRIES, room), ENTRIES.slice(0, 1));
    assert.equal(fitTerms([], 1000).accepts, '[]');
  });

  it('have each family of networks while one of each token fits', () => {
    const isSolana = ({ network }: PaymentRequirements): boolean => network.startsWith('solana:');
    const ordered = ENTRIES.toSorted((a, b) => Number(isSolana(a)) - Number(isSolana(b)));
    const four = 4 * Math.max(...ENTRIES.map((entry) => JSON.stringify(entry).length + 1)) + 2;
    const families = acceptsOf(ordered, four).map(({ network }) => network.split(':')[0]);
    assert.deepEqual([...new Set(families)], ['eip155', 'solana']);
  });
});

describe('the type that a buyer signs', () => {
  const TYPE = ',"primaryType":"TransferWithAuthorization"'.length;
  const isTyped = ({ extra }: PaymentRequirements): boolean => 'primaryType' in extra;

  it('is in the first EVM entry, and in others where room is left', () => {
    for (let room = 1200; room < 6000; room += 1) {
      const { accepts: json } = fitTerms(ENTRIES, room);
      const kept: PaymentRequirements[] = JSON.parse(json);
      const evm = kept.filter(({ network }) => network.startsWith('eip155:'));
      const typed = evm.filter(isTyped);
      assert.ok(typed.length > 0, `${room}`);
      assert.deepEqual(typed, evm.slice(0, typed.length));
      assert.ok(typed.length === evm.length || json.length + TYPE > room, `${room}`);
      for (const { extra } of typed)
        assert.deepEqual(extra, { name: 'USD Coin', version: '2', primaryType: 'TransferWithAuthorization' });
      assert.deepEqual(kept.filter(isTyped), typed);
    }
  });

  it('takes no room where there is no EVM entry', () => {
    const solana = ENTRIES.filter(({ network }) => network.startsWith('solana:'));
    assert.ok(solana.length > 1);
    assert.deepEqual(acceptsOf(solana, JSON.stringify(solana).length), solana);
  });
});

describe('the signed offers of a 402', () => {
  const LENGTH = 600;
  const offer = (room: number, entries = ENTRIES) => {
    const signed: number[] = [];
    const { accepts, offers } = fitTerms(entries, room, (entry, maxLength) => {
      if (maxLength < LENGTH) return undefined;
      signed.push(entries.indexOf(entry));
      return { format: 'jws', signature: `${entries.indexOf(entry)}`.padStart(LENGTH, '.') };
    });
    return {
      kept: JSON.parse(accepts) as PaymentRequirements[],
      bytes: accepts.length + (offers === undefined ? 0 : `,"offer-receipt":${offers}`.length),
      offers: offers === undefined ? [] : JSON.parse(offers).info.offers,
      signed,
    };
  };

  it('name the entry that they are of, fit the room, and are signed only when they are sent', () => {
    for (let room = 0; room < 12_000; room += 7) {
      const { kept, bytes, offers, signed } = offer(room);
      assert.ok(bytes <= room || kept.length === 1, `${bytes} of ${room}`);
      assert.equal(signed.length, offers.length);
      for (const { acceptIndex, signature } of offers) {
        const place = Number(signature.replace(/^\.+/, ''));
        assert.deepEqual(withoutHints(kept[acceptIndex] ?? assert.fail()), ENTRIES[place]);
      }
    }
  });

  it('take no room from entries', () => {
    for (const room of [1500, 2000, 5000]) {
      const { accepts } = fitTerms(ENTRIES, room);
      assert.deepEqual(offer(room).kept, JSON.parse(accepts));
    }
  });

  it('are of four entries at most', () => {
    assert.equal(offer(100_000).offers.length, 4);
    assert.equal(offer(100_000, ENTRIES.slice(0, 1)).offers.length, 1);
    assert.deepEqual(offer(100_000, []).offers, []);
  });
});

describe('what a link is asked for', () => {
  const of = (query: string): string[] => {
    const filter = readAcceptsFilter(`/cs_1${query}`);
    return (filter === undefined ? ENTRIES : filterAccepts(ENTRIES, filter)).map(
      (entry) => `${symbolOf(entry)} ${entry.network}`,
    );
  };
  const everything = of('');

  it('is everything without parameters, and with others', () => {
    assert.equal(everything.length, ENTRIES.length);
    assert.deepEqual(of('?network=&token='), everything);
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
    assert.deepEqual(of(`?token=${ENTRIES[0]?.asset.toLowerCase()}`), ['USDC eip155:8453']);
  });

  it('is both, or one of several', () => {
    assert.deepEqual(of('?token=USDT&network=eip155:42161'), ['USDT eip155:42161']);
    assert.deepEqual(of('?network=eip155:8453&network=eip155:137'), ['USDC eip155:8453', 'USDC eip155:137']);
  });

  it('is nothing when it is not offered', () => {
    assert.deepEqual(of('?network=eip155:5'), []);
  });
});
