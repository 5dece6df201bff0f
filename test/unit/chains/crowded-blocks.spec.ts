import assert from 'node:assert/strict';
import { type Hex, numberToHex, pad } from 'viem';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { type FakeLog, transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import { createChainReader } from '../../../shared/chains/chain-reader.js';
import type { EvmPaymentQuery } from '../../../shared/chains/evm/evm.js';
import type { EvmArrivals } from '../../../shared/chains/evm/evm-arrivals.js';
import { forEachTest } from '../../support/hooks.js';
import { BASE_SEPOLIA_NETWORK, buildEvmQuery, CROWD, randomAddress } from './evm-payment.js';

/** One answer holds fewer logs. */
const FLOOD = 5000;
const LIMIT = 10;

describe('a block on an EVM chain with more logs than one answer holds', () => {
  const chain = forEachTest(() => EvmChain.start(84532));
  const reader = forEachTest(() =>
    createChainReader(new Map([['EIP155_84532', chain.endpoint.url]]), { pauseMs: 1 }),
  );
  let payment: EvmPaymentQuery;
  /** A payment of an attacker, whose wallet is among the wallets. */
  let flood: EvmPaymentQuery;

  beforeEach(() => {
    payment = buildEvmQuery();
    flood = buildEvmQuery();
  });

  const pays = (one: EvmPaymentQuery): FakeLog[] => [usedLog(one), transferLog(one)];
  const times = (count: number, log: (from: Hex) => FakeLog): FakeLog[] =>
    Array.from({ length: count }, (_, index) => log(numberToHex(index + 1, { size: 20 })));
  const usesOfOthers = (count: number): FakeLog[] => times(count, (from) => usedLog({ ...flood, from }));
  const unreadOf = ({ payTo, from }: EvmPaymentQuery, payer: 'all' | 'one' = 'all'): object => ({
    wallet: payTo.toLowerCase(),
    block: chain.head.number,
    payer: payer === 'all' ? undefined : from.toLowerCase(),
  });

  async function read(): Promise<Omit<EvmArrivals, 'arrivals' | 'upTo'> & { nonces: unknown[] }> {
    // The others are wallets without a transfer.
    const wallets = [payment.payTo, flood.payTo, ...Array.from({ length: 130 }, randomAddress)];
    const newest = chain.head.number;
    const range = { oldest: newest, newest };
    const { arrivals, others, unread } = await reader.evmArrivals(BASE_SEPOLIA_NETWORK, wallets, range);
    return { nonces: arrivals.flatMap(({ references }) => references), others, unread };
  }

  async function assertRead(paid: EvmPaymentQuery[], unread: object[]): Promise<void> {
    assert.deepEqual(await read(), { nonces: paid.map(({ nonce }) => nonce), others: 0, unread });
  }

  for (const [how, limit, count] of [
    ['exceeds the bounds of an answer', Number.POSITIVE_INFINITY, FLOOD],
    ['is refused', LIMIT, LIMIT + 1],
  ] as const) {
    describe(`where the longer answer ${how}`, () => {
      beforeEach(() => {
        chain.refusesLogsAbove = limit;
      });

      it('is read for all wallets but the one that is flooded, among too many uses', async () => {
        const logs = times(count, (from) => transferLog({ ...flood, from }));
        chain.execute([...usesOfOthers(count), ...logs, ...pays(payment)]);
        await assertRead([payment], [unreadOf(flood)]);
      });

      it('is read for all payers of a wallet but the one that floods it', async () => {
        const logs = times(count, () => transferLog(flood));
        const other = buildEvmQuery({ payTo: flood.payTo });
        chain.execute([...pays(payment), ...pays(other), usedLog(flood), ...logs]);
        await assertRead([payment, other], [unreadOf(flood, 'one')]);
      });

      it('is read for all payers but the one with too many uses', async () => {
        const logs = times(count, (from) => usedLog({ ...flood, nonce: pad(from) }));
        const other = buildEvmQuery({ payTo: flood.payTo });
        chain.execute([...logs, ...pays(flood), ...pays(payment), ...pays(other)]);
        await assertRead([payment, other], [unreadOf(flood, 'one')]);
      });

      it('is read for all but the payer of a transaction with a long receipt, among too many uses', async () => {
        const long = [transferLog(flood), CROWD, transferLog(flood)];
        chain.execute([...usesOfOthers(count), ...long, ...pays(payment)]);
        await assertRead([payment], [unreadOf(flood, 'one')]);
      });
    });
  }

  it('asks once for the receipt of a transaction with thousands of transfers to a wallet', async () => {
    chain.execute([...times(2000, () => transferLog(flood)), ...pays(payment)]);
    const { nonces, others } = await read();
    assert.deepEqual([nonces[0], nonces.length, others], [payment.nonce, 1, 0]);
    assert.equal(chain.endpoint.callsOf('eth_getTransactionReceipt'), 1);
  });

  it('ends a range before more receipts than one call reads in its time', async () => {
    const oldest = chain.head.number + 1;
    for (let sent = 0; sent < 250; sent += 1) chain.execute([transferLog(flood)]);
    chain.execute(pays(payment));
    const newest = chain.head.number;
    const ranges: unknown[] = [];
    for (let next = oldest; next <= newest; ) {
      const wallets = [payment.payTo, flood.payTo];
      const { arrivals, others, upTo } = await reader.evmArrivals(BASE_SEPOLIA_NETWORK, wallets, {
        oldest: next,
        newest,
      });
      ranges.push([arrivals.length, others]);
      next = upTo + 1;
    }
    assert.deepEqual(ranges, [
      [0, 100],
      [0, 100],
      [1, 50],
    ]);
  });

  describe('with more transactions than one call reads receipts of', () => {
    beforeEach(() => {
      chain.mine();
      chain.minesEach = false;
    });

    /** Sends a payment among many, and one whose payer used the authorization after its Transfer. */
    function sendMany(log: (index: number) => FakeLog[] = () => [transferLog(flood)]): EvmPaymentQuery {
      const late = buildEvmQuery({ payTo: flood.payTo });
      for (let sent = 0; sent < 250; sent += 1) chain.execute(log(sent));
      chain.execute([transferLog(late), usedLog(late)]);
      chain.execute(pays(payment));
      for (let sent = 250; sent < 500; sent += 1) chain.execute(log(sent));
      return late;
    }

    /** The first searches find the transfers and the uses by their payers. */
    function beforeTheLastSearch(act: () => unknown): void {
      let searches = 0;
      chain.endpoint.onCall = (method) => {
        if (method === 'eth_getLogs') searches += 1;
        if (searches === 4) act();
      };
    }

    it('asks for the receipts of those that used authorizations, and of the last', async () => {
      const late = sendMany();
      const { nonces, others, unread } = await read();
      assert.deepEqual([nonces.sort(), others, unread], [[payment.nonce, late.nonce].sort(), 500, []]);
      assert.equal(chain.endpoint.callsOf('eth_getTransactionReceipt'), 2);
    });

    it('asks for 100 receipts at most', async () => {
      const another = { ...flood, from: randomAddress() };
      const nonce = (index: number): Hex => numberToHex(index, { size: 32 });
      sendMany((index) => [usedLog({ ...another, nonce: nonce(index) }), transferLog(flood)]);
      const { others, unread } = await read();
      assert.deepEqual([others, unread], [0, []]);
      assert.equal(chain.endpoint.callsOf('eth_getTransactionReceipt'), 100);
    });

    for (const [how, begin] of Object.entries({
      'cuts its list': () => Object.assign(chain, { mostLogs: 503 }),
      'is late': () => chain.lag.set('eth_getLogs', 1),
      'refuses its list': () => Object.assign(chain, { refusesLogsAbove: 503 }),
    }))
      it(`takes none for a transfer without an authorization where the endpoint ${how}`, async () => {
        const late = sendMany();
        beforeTheLastSearch(begin);
        await assertRead([payment], [unreadOf(flood, 'one'), unreadOf(late, 'one')]);
      });

    it('leaves a wallet unread where the transfers of many payers are', async () => {
      sendMany((index) => [transferLog({ ...flood, from: numberToHex(index + 1, { size: 20 }) })]);
      const other = buildEvmQuery({ payTo: flood.payTo });
      chain.execute(pays(other));
      chain.refusesLogsAbove = 504;
      await assertRead([payment], [unreadOf(flood)]);
    });
  });

  it('is not taken for an endpoint that refuses every search', async () => {
    chain.maxLogRange = 0;
    chain.execute(pays(payment));
    await assert.rejects(read(), /refuses to search for logs/);
  });
});
