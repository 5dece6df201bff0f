import assert from 'node:assert/strict';
import { type ChainReader, createChainReader } from '../../../shared/chains/chain-reader.js';
import { ChainCheck } from '../../../shared/chains/check/chain-check.js';
import { EndpointQueues } from '../../../shared/chains/rpc/endpoint-queues.js';
import { BASE_SEPOLIA_NETWORK } from './evm-payment.js';

const URL = 'http://endpoint.test';
/** The slots of an endpoint whose limit is unknown. */
const SLOTS = 8;

/** The endpoint answers when the test says so. */
describe('a reader of chains that shares the queue of an endpoint', () => {
  let sent: { method: string; answer(result: string): void }[];
  let checks: ChainCheck[];
  let stop: AbortController;
  let queues: EndpointQueues;
  let reader: ChainReader;

  beforeEach(() => {
    sent = [];
    checks = [];
    stop = new AbortController();
    queues = new EndpointQueues({
      fetch: (_input, init) =>
        new Promise((resolve) => {
          const { id, method } = JSON.parse(String(init?.body));
          const answer = (result: string): void => resolve(Response.json({ jsonrpc: '2.0', id, result }));
          sent.push({ method, answer });
        }),
    });
    const urls = new Map([['EIP155_84532', URL]]);
    reader = createChainReader(urls, { queues, signal: stop.signal });
  });
  afterEach(() => {
    stop.abort();
    for (const check of checks) {
      check.cut('the test is over');
      check.close();
    }
  });

  async function turns(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  function askOfPayment(method: string, times = 1): void {
    const check = new ChainCheck({ withinMs: 60_000, turnsWithinMs: 60_000, retryPauseMs: 0 });
    checks.push(check);
    const queued = queues.of(URL, BASE_SEPOLIA_NETWORK).enter(check, { turnsWithinMs: 60_000 });
    for (let id = 0; id < times; id += 1) {
      const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: [id] });
      queued.fetch(URL, { method: 'POST', body }).catch(() => undefined);
    }
  }

  const read = (): Promise<string> =>
    reader.evmHead(BASE_SEPOLIA_NETWORK).then(
      () => 'read',
      (error: Error) => error.message,
    );

  it('asks after the checks of payments, also one that begins later and has no time', async () => {
    askOfPayment('eth_getLogs', SLOTS + 1);
    await turns();
    const reading = read();
    askOfPayment('eth_gasPrice');
    await turns();
    const filled = sent.splice(0);
    assert.equal(filled.length, SLOTS);
    for (const { answer } of filled.slice(0, 2)) answer('0x1');
    await turns();
    const methods = sent.map(({ method }) => method);
    assert.deepEqual(methods, ['eth_getLogs', 'eth_gasPrice', 'eth_chainId']);
    stop.abort();
    assert.equal(await reading, 'the process is stopping');
  });

  it('ends when its process stops, also between two tries', async () => {
    const reading = read();
    await turns();
    sent[0]?.answer('0x1');
    await turns();
    stop.abort();
    assert.equal(await reading, 'the process is stopping');
    assert.equal(sent.length, 1);
  });
});
