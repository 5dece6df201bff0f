import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { ChainCheck } from '../../../shared/chains/check/chain-check.js';
import { EndpointLimits, NoTurn } from '../../../shared/chains/check/unreadable.js';
import { EndpointQueue, type QueuedCheck } from '../../../shared/chains/rpc/endpoint-queue.js';
import { MAX_WAITING_RPC_CALLS } from '../../../shared/limits/bounds.js';
import { UNPACED } from './unpaced.js';

interface Sent {
  methods: string[];
  answer(entry?: object, status?: number, headers?: Record<string, string>): Promise<void>;
}

/** The endpoint answers when the test says so. */
describe('the queue of an endpoint', () => {
  let sent: Sent[];
  let queue: EndpointQueue;
  let checks: ChainCheck[];

  beforeEach(() => {
    sent = [];
    checks = [];
    queue = open();
  });
  afterEach(() => {
    for (const check of checks) {
      check.cut('the test is over');
      check.close();
    }
  });

  function open(options = {}): EndpointQueue {
    return new EndpointQueue({
      send: (_input, init) =>
        new Promise((resolve, reject) => {
          const asked = JSON.parse(String(init?.body));
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
          sent.push({
            methods: [asked].flat().map(({ method }) => method),
            async answer(entry = { result: 'ok' }, status = 200, headers = {}) {
              const bodies = [asked].flat().map(({ id }) => ({ jsonrpc: '2.0', id, ...entry }));
              resolve(Response.json(Array.isArray(asked) ? bodies : bodies[0], { status, headers }));
              await turns();
            },
          });
        }),
      pace: UNPACED,
      ...options,
    });
  }

  async function turns(): Promise<void> {
    for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  interface Entering {
    withinMs?: number;
    turnsWithinMs?: number;
    inBackground?: boolean;
  }

  function check(
    until?: number,
    { withinMs = 60_000, turnsWithinMs = 60_000, ...more }: Entering = {},
  ): QueuedCheck {
    const opened = new ChainCheck({ withinMs, turnsWithinMs, retryPauseMs: 0 });
    checks.push(opened);
    const checkDeadline = until === undefined ? undefined : new Date(until);
    return queue.enter(opened, { checkDeadline, turnsWithinMs, ...more });
  }

  const inBackground = (): QueuedCheck => check(undefined, { inBackground: true });

  /** The text of the answer, or why there is none. */
  function ask(from: QueuedCheck, method: string, params: unknown[] = [], id: unknown = 1): Promise<string> {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    return from.fetch('http://endpoint.test', { method: 'POST', body }).then(
      (response) => response.text(),
      (error: Error) => error.message,
    );
  }

  async function untilSent(count: number): Promise<void> {
    while (sent.length < count) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  const methods = (): string[] => sent.flatMap((one) => one.methods);

  /** Takes all slots of the endpoint. */
  async function fill(): Promise<Sent[]> {
    const others = check();
    for (let call = 0; call < 8; call += 1) void ask(others, 'eth_getLogs', [call]);
    await turns();
    return sent.splice(0);
  }

  it('sends the call first whose window ends first, and of equals the one that began first', async () => {
    const filled = await fill();
    const [never, late, soon, second] = [check(), check(2000), check(1000), check(1000)];
    for (const [name, from] of Object.entries({ never, late, second, soon })) void ask(from, name);
    await turns();
    assert.deepEqual(methods(), []);
    for (const one of filled) await one.answer();
    assert.deepEqual(methods(), ['soon', 'second', 'late', 'never']);
  });

  it('sends a call in the background only when no other waits', async () => {
    const filled = await fill();
    const [background, late] = [inBackground(), check()];
    void ask(background, 'background');
    void ask(late, 'late');
    await turns();
    const [first, ...others] = filled;
    await first?.answer();
    assert.deepEqual(methods(), ['late', 'background']);
    for (const one of [...others, ...sent]) await one.answer();
  });

  it('has few calls in the background in flight, which leave every slot to the others', async () => {
    const background = inBackground();
    for (let call = 0; call < 9; call += 1) void ask(background, 'eth_getLogs', [call]);
    await turns();
    assert.equal(sent.splice(0).length, 4);
    assert.equal((await fill()).length, 8);
  });

  it('sends one call for all that ask the same before it is sent, and another for those that ask later', async () => {
    const one = ask(check(), 'eth_blockNumber', [], 'a');
    const other = ask(check(), 'eth_blockNumber', [], 'b');
    await turns();
    const later = ask(check(), 'eth_blockNumber', [], 'c');
    await turns();
    assert.deepEqual(methods(), ['eth_blockNumber', 'eth_blockNumber']);
    await sent[0]?.answer({ result: 'old' });
    await sent[1]?.answer({ result: 'new' });
    const answers = [await one, await other, await later].map((text) => JSON.parse(text));
    const said = answers.map(({ id, result }) => `${id} ${result}`);
    assert.deepEqual(said, ['a old', 'b old', 'c new']);
  });

  it('sends reads that wait together as a batch, and no search for logs in it', async () => {
    const from = check();
    for (const method of ['eth_call', 'eth_getLogs', 'eth_getTransactionReceipt']) void ask(from, method);
    await turns();
    const requests = sent.map((one) => one.methods);
    assert.deepEqual(requests, [['eth_call', 'eth_getTransactionReceipt'], ['eth_getLogs']]);
  });

  it('tries a limited call again before it gives up', async () => {
    const asked = ask(check(), 'eth_call');
    for (let tried = 0; tried < 3; tried += 1) {
      await turns();
      assert.equal(sent.length, tried + 1);
      await sent[tried]?.answer({}, 429);
    }
    assert.equal(await asked, 'limited by the endpoint: it answered HTTP 429');
    assert.equal(queue.limited, 3);
  });

  it('sends nothing during a pause, and goes on afterwards', async () => {
    queue = open({ pace: { firstPauseMs: 300 } });
    const asked = ask(check(), 'eth_call');
    await turns();
    await sent[0]?.answer({}, 429);
    void ask(check(1), 'eth_blockNumber');
    await turns();
    assert.equal(sent.length, 1);
    assert.ok(queue.pausedMs > 0);
    await untilSent(2);
    assert.deepEqual(methods(), ['eth_call', 'eth_blockNumber']);
    await sent[1]?.answer();
    await untilSent(3);
    await sent[2]?.answer({ result: '0x1' });
    assert.match(await asked, /0x1/);
  });

  it('refuses a check at once that would only wait for the end of a pause', async () => {
    const asked = ask(check(), 'eth_call');
    await turns();
    await sent[0]?.answer({}, 429, { 'retry-after': '30' });
    assert.throws(() => check(undefined, { turnsWithinMs: 20_000 }), EndpointLimits);
    checks[0]?.cut('enough');
    assert.equal(await asked, 'enough');
  });

  it('lets only some checks in while the endpoint limits: the most urgent ones', async () => {
    queue = open({ checksWhileLimited: 2 });
    const first = check();
    const limited = ask(first, 'eth_call');
    await turns();
    for (let tried = 0; tried < 3; tried += 1) await sent[tried]?.answer({}, 429);
    await limited;
    first.leave();
    await fill();
    const later = ask(check(5000), 'late');
    await turns();
    assert.throws(() => check(6000), NoTurn);
    const sooner = check(1000);
    assert.equal(await later, 'waiting for a turn at the endpoint');
    assert.ok(sooner);
  });

  it('refuses checks while the endpoint is silent, except one that tries it', async () => {
    for (let silent = 0; silent < 3; silent += 1) {
      const from = check();
      const asked = ask(from, 'eth_blockNumber');
      await turns();
      checks.at(-1)?.cut('too slow');
      assert.equal(await asked, 'too slow');
      from.leave();
      await turns();
    }
    const trying = check();
    assert.throws(() => check(), /stopped answering/);
    const asked = ask(trying, 'eth_blockNumber');
    await turns();
    await sent.at(-1)?.answer();
    assert.match(await asked, /ok/);
    assert.ok(check());
  });

  it('keeps a bounded number of calls, and none of a check that has ended', async () => {
    await fill();
    const from = check();
    const asked = Array.from({ length: MAX_WAITING_RPC_CALLS + 1 }, (_, call) =>
      ask(from, 'eth_getLogs', [`${call}`]),
    );
    assert.equal(await asked.at(-1), 'waiting for a turn at the endpoint');
    assert.equal(queue.waiting, MAX_WAITING_RPC_CALLS);
    assert.ok(getEventListeners(checks.at(-1)?.signal ?? new EventTarget(), 'abort').length <= 1);
    checks.at(-1)?.cut('over');
    assert.equal(await asked[0], 'over');
    assert.equal(queue.waiting, 0);
  });

  it('aborts a request that no check waits for any more', async () => {
    const both = [ask(check(), 'eth_blockNumber'), ask(check(), 'eth_blockNumber')];
    await turns();
    checks[0]?.cut('first');
    assert.equal(await both[0], 'first');
    await sent[0]?.answer();
    assert.match((await both[1]) ?? '', /ok/);
  });

  it('does not count the time of a wait, which has a limit of its own', async () => {
    await fill();
    const patient = check(undefined, { withinMs: 200 });
    const asked = ask(patient, 'eth_blockNumber');
    await new Promise((resolve) => setTimeout(resolve, 500));
    assert.equal(checks.at(-1)?.isCut, false);
    const impatient = check(undefined, { turnsWithinMs: 10 });
    assert.equal(await ask(impatient, 'eth_gasPrice'), 'waiting for a turn at the endpoint');
    checks.at(-2)?.cut('over');
    assert.equal(await asked, 'over');
  });
});
