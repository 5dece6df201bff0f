import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chain } from '../../../lab/world/chains/chain.js';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { type BatchHandling, RATE_LIMITS, type RateLimit } from '../../../lab/world/chains/rate-limits.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import {
  type ChainsOptions,
  createChains,
  type OpenChains,
  type PaymentQuery,
} from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import { isRateLimit } from '../../../shared/chains/rpc/rpc-error.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { buildEvmQuery } from './evm-payment.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';
import { openUnpaced, UNPACED } from './unpaced.js';

const PAYMENTS = 50;
const MOST_CALLS_EACH = 7;
const CALLS_PER_SECOND = 10;
/** The endpoint's clock runs so much faster than ours. */
const HASTE = 10;

interface Family {
  open(): Chain;
  buildPaid(chain: Chain, count: number): PaymentQuery[];
  head: string;
}

const FAMILIES: Record<string, Family> = {
  'an EVM endpoint': {
    open: () => EvmChain.inProcess(84532),
    buildPaid(chain, count) {
      assert.ok(chain instanceof EvmChain);
      const queries = Array.from({ length: count }, () => buildEvmQuery());
      for (const query of queries) chain.movePayment(query);
      return queries;
    },
    head: 'eth_getBlockByNumber',
  },
  'a Solana endpoint': {
    open: () => SolanaChain.inProcess(DEVNET),
    buildPaid(chain, count) {
      assert.ok(chain instanceof SolanaChain);
      const blockhash = chain.issueBlockhash();
      const queries = Array.from({ length: count }, () => buildSolanaPayment(blockhash).query);
      for (const { signedTransaction } of queries) chain.movePayment(signedTransaction);
      return queries;
    },
    head: 'getSlot',
  },
};

for (const [name, { open, buildPaid, head }] of Object.entries(FAMILIES)) {
  describe(`${name} that limits`, () => {
    let chain: Chain;
    let chains: OpenChains;

    beforeEach(() => {
      chain = open();
      chains = openChains({});
    });
    afterEach(() => chains.close());

    const openChains = (options: ChainsOptions): OpenChains => openUnpaced(chain.endpoint.fetch, options);

    const buildOne = (): PaymentQuery => buildPaid(chain, 1)[0] ?? assert.fail();

    /** Checks until the payment is found, as a worker does. */
    async function checkUntilFound(query: PaymentQuery): Promise<Set<string>> {
      const reasons = new Set<string>();
      for (;;) {
        const finding = await chains.check(query, { checkDeadline: query.notBefore });
        if (finding.kind === 'paid') return reasons;
        assert.ok('reason' in finding, finding.kind);
        reasons.add(finding.reason.split(':')[0] ?? '');
        await sleep(200);
      }
    }

    it(`to ${CALLS_PER_SECOND} calls a second shows ${PAYMENTS} payments with ${MOST_CALLS_EACH} calls each at most`, async () => {
      const queries = buildPaid(chain, PAYMENTS);
      chains = openChains({ pace: { firstPauseMs: 500 / HASTE, longestPauseMs: 30_000 / HASTE } });
      Object.assign(chain.endpoint, {
        callsPerSecond: CALLS_PER_SECOND,
        nowMs: () => performance.now() * HASTE,
      });
      const reasons = await Promise.all(queries.map(checkUntilFound));
      const calls = chain.endpoint.unlimited / PAYMENTS;
      assert.ok(calls <= MOST_CALLS_EACH, `${calls} calls each`);
      const said = new Set(reasons.flatMap((some) => [...some]));
      const others = [...said].filter(
        (reason) => !/^(limited by|waiting for a turn at) the endpoint/.test(reason),
      );
      assert.deepEqual(others, []);
    });

    for (const limit of Object.keys(RATE_LIMITS) as RateLimit[]) {
      it(`all calls by ${limit} decides nothing, and shows the payment afterwards`, async () => {
        const query = buildOne();
        chain.endpoint.fail(limit);
        for (let checks = 0; checks < 5; checks += 1) {
          const found = await chains.check(query);
          assert.equal(found.kind, 'unreadable');
          assert.match(found.reason, /^limited by the endpoint/);
        }
        chain.endpoint.recover();
        assert.equal((await chains.check(query)).kind, 'paid');
      });
    }

    it('is left alone for as long as it asks', async () => {
      const query = buildOne();
      chain.endpoint.fail('http_429');
      chain.endpoint.retryAfterSeconds = 60;
      const found = await chains.check(query, { withinMs: 200 });
      assert.equal(found.kind === 'unreadable' && found.reason, 'limited by the endpoint');
      const calls = chain.endpoint.total;
      chain.endpoint.recover();
      const again = await Promise.all([1, 2, 3].map(() => chains.check(query)));
      assert.deepEqual(new Set(again.map(({ kind }) => kind)), new Set(['unreadable']));
      assert.equal(chain.endpoint.total, calls);
    });

    it('is named by its network in one line of the log, and another when the limit is over', async () => {
      const { logger, lines } = loggerWithLines('info');
      chains = openChains({ pace: { ...UNPACED, overAfterMs: 0 }, logger });
      const query = buildOne();
      chain.endpoint.fail('http_429');
      for (let checks = 0; checks < 3; checks += 1) await chains.check(query);
      chain.endpoint.recover();
      for (let checks = 0; checks < 3; checks += 1) await chains.check(query);
      const { network } = query;
      assert.deepEqual(
        lines.map((line) => [line.event, line.network]),
        [
          ['chain.endpoint_limits', network],
          ['chain.endpoint_limits_no_more', network],
        ],
      );
      assert.equal(chains.endpoints()[0]?.network, network);
      assert.ok((chains.endpoints()[0]?.limitedAnswers ?? 0) >= 3);
    });

    it('gets one call for the newest block from checks that begin together', async () => {
      const queries = buildPaid(chain, 20);
      const before = chain.endpoint.callsOf(head);
      const seen: string[] = [];
      chain.endpoint.onCall = (method) => void seen.push(method);
      const found = await Promise.all(queries.map((query) => chains.check(query)));
      assert.deepEqual(new Set(found.map(({ kind }) => kind)), new Set(['paid']));
      assert.equal(before, 0);
      assert.equal(seen.slice(0, 2).filter((method) => method === head).length, 1);
      assert.ok(chain.endpoint.unlimited <= 5 * queries.length, `${chain.endpoint.unlimited} calls`);
    });
  });
}

describe('an EVM endpoint that gets batches', () => {
  const regular: readonly BatchHandling[] = ['answered', 'shuffled'];
  const broken: readonly BatchHandling[] = ['partly', 'with_twice_used_ids', 'refused', 'http_400'];
  for (const batches of [...regular, ...broken]) {
    it(`and leaves them ${batches} shows every payment`, async () => {
      const chain = EvmChain.inProcess(84532);
      const chains = createChains(new Map(), { fetch: chain.endpoint.fetch, pace: UNPACED });
      chain.endpoint.batches = batches;
      const queries = Array.from({ length: 40 }, () => buildEvmQuery());
      for (const query of queries.slice(0, 20)) chain.movePayment(query);
      chain.mine();
      const check = (): Promise<ChainFinding[]> => Promise.all(queries.map((query) => chains.check(query)));
      const kinds = (await check()).map(({ kind }) => kind);
      assert.deepEqual(kinds, [...Array(20).fill('paid'), ...Array(20).fill('unused')]);
      const { requests, total } = chain.endpoint;
      await check();
      const [more, calls] = [chain.endpoint.requests - requests, chain.endpoint.total - total];
      // The refusal is remembered: afterwards each call is a request of its own.
      if (regular.includes(batches)) assert.ok(more < calls / 2, `${more} of ${calls}`);
      else assert.equal(more, calls);
      chains.close();
    });
  }
});

describe('a check that begins while another reads the newest block', () => {
  it('reads the newest block itself', async () => {
    const chain = EvmChain.inProcess(84532);
    let letGo = (): void => {};
    let isHeld = false;
    const chains = createChains(new Map(), {
      async fetch(input, init) {
        const response = await chain.endpoint.fetch(input, init);
        if (isHeld || !String(init?.body).includes('"latest"')) return response;
        isHeld = true;
        await new Promise<void>((resolve) => {
          letGo = resolve;
        });
        return response;
      },
    });
    const earlier = chains.check(buildEvmQuery());
    while (!isHeld) await sleep(1);
    chain.travel(60);
    chain.mine();
    const later = chains.check(buildEvmQuery());
    while (chain.endpoint.callsOf('eth_getBlockByNumber') < 2) await sleep(1);
    letGo();
    const [old, fresh] = await Promise.all([earlier, later]);
    assert.ok(old.kind === 'unused' && fresh.kind === 'unused');
    assert.ok(fresh.chainTime.getTime() >= old.chainTime.getTime() + 59_000);
    assert.equal(fresh.chainTime.getTime(), chain.head.timestamp * 1000);
    chains.close();
  });
});

describe('an endpoint that hangs', () => {
  it('does not delay the checks of another network', async () => {
    const [evm, solana] = [await EvmChain.start(84532), await SolanaChain.start(DEVNET)];
    // Each check has a call of its own that hangs, so that they take all slots.
    evm.endpoint.fail('hang', 'eth_call');
    const urls = { EIP155_84532: evm.endpoint.url, SOLANA_DEVNET: solana.endpoint.url };
    const chains = createChains(new Map(Object.entries(urls)));
    let ended = 0;
    const dead = Array.from({ length: 50 }, () => chains.check(buildEvmQuery()).finally(() => (ended += 1)));
    await evm.endpoint.someoneWaits();
    while ((chains.endpoints()[0]?.waitingCalls ?? 0) === 0) await sleep(1);
    const { query } = buildSolanaPayment(solana.issueBlockhash());
    solana.movePayment(query.signedTransaction);
    assert.equal((await chains.check(query)).kind, 'paid');
    assert.equal(ended, 0);
    chains.close();
    await Promise.all(dead);
    await Promise.all([evm.close(), solana.close()]);
  });
});

describe('an error of an endpoint', () => {
  const errors: [limitsRate: boolean, method: string, code: number | undefined, message: string][] = [
    [true, 'eth_call', -32005, 'limit exceeded'],
    [true, 'eth_call', -32005, ''],
    [true, 'eth_getBlockByNumber', -32016, 'over rate limit'],
    [true, 'eth_call', -32097, ''],
    [true, 'eth_call', -32000, 'Too many requests, retry after 1s'],
    [true, 'eth_getLogs', 429, 'compute units per second capacity'],
    [true, 'getSlot', 429, 'Too many requests for a specific RPC call'],
    [true, 'getTransaction', -32005, 'limit exceeded'],
    [true, 'getSlot', undefined, 'rate limited'],
    [false, 'eth_getLogs', -32005, 'query returned more than 10000 results'],
    [false, 'eth_getLogs', -32005, 'limit exceeded'],
    [false, 'eth_getLogs', -32600, 'requests limited to a range of 10 blocks'],
    [false, 'eth_call', -32000, 'header not found'],
    [false, 'eth_call', 3, 'execution reverted'],
    [false, 'eth_call', -32600, 'batch limit exceeded'],
    [false, 'getSignaturesForAddress', -32016, 'Minimum context slot has not been reached'],
    [false, 'getSlot', -32005, 'Node is behind by 42 slots'],
  ];
  for (const [limitsRate, method, code, message] of errors)
    it(`to ${method}, ${code} "${message}", ${limitsRate ? 'limits' : 'does not limit'} the rate`, () =>
      assert.equal(isRateLimit(method, { code, message }, false), limitsRate));

  it('to a search for logs without a reason limits the rate while other calls are limited', () => {
    for (const [message, limitsRate] of Object.entries({
      'limit exceeded': true,
      'more than 10000 results': false,
    }))
      assert.equal(isRateLimit('eth_getLogs', { code: -32005, message }, true), limitsRate);
  });
});
