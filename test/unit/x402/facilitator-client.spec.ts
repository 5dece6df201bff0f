import assert from 'node:assert/strict';
import { answers, answersHtml, slow } from '../../../lab/world/facilitator/dial.js';
import { type FakeFacilitator, startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { openRateLimiter } from '../../../shared/limits/rate-limiter.js';
import { openThrottle } from '../../../shared/limits/throttle.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import type { FacilitatorAuth } from '../../../shared/secrets/facilitator-secret.js';
import { createFacilitator, type Facilitator } from '../../../shared/x402/facilitator.js';
import { loggerWithLines } from '../../support/log-lines.js';
import { entryFor, SOLANA_DEVNET } from './offers.js';

const NAMED = { name: 'facilitator.example', variable: 'FACILITATOR_URL' };

const request = { paymentRequirements: entryFor('eip155:84532') } as never;
const onSolana = { paymentRequirements: entryFor(SOLANA_DEVNET) } as never;

describe('the facilitator client', () => {
  let fake: FakeFacilitator;
  const open: Facilitator[] = [];
  const { logger, lines } = loggerWithLines();
  beforeEach(async () => {
    lines.length = 0;
    fake = await startFacilitator();
  });
  afterEach(async () => {
    resetClock();
    await Promise.all(open.splice(0).map((facilitator) => facilitator.close()));
    await fake.close();
  });

  function client(
    settings: {
      auth?: FacilitatorAuth;
      timeoutMs?: number;
      maxConnections?: number | undefined;
      /** How many connections this process may have. */
      share?: number;
    } = {},
  ): Facilitator {
    const { auth = { kind: 'none' }, timeoutMs = 5000, maxConnections, share } = settings;
    const config = { ...NAMED, url: fake.url, auth, timeoutMs, settleTimeoutMs: timeoutMs, maxConnections };
    const throttle =
      share === undefined ? undefined : openThrottle({ rate: openRateLimiter(() => 0), slots: () => share });
    const facilitator = createFacilitator(config, { logger, ...(throttle && { throttle }) });
    open.push(facilitator);
    return facilitator;
  }

  it('requests /supported once for concurrent callers and once a minute', async () => {
    const facilitator = client();
    const all = await Promise.all(Array.from({ length: 20 }, () => facilitator.supported()));
    assert.ok(all.every((kinds) => kinds?.has('eip155:84532')));
    advanceClock(59_000);
    await facilitator.supported();
    assert.equal(fake.calls.supported.length, 1);
    advanceClock(2_000);
    await facilitator.supported();
    assert.equal(fake.calls.supported.length, 2);
  });

  it('uses a copy for up to ten minutes while the facilitator does not answer', async () => {
    const facilitator = client();
    await facilitator.supported();
    fake.supported.always(answers(500));
    advanceClock(9 * 60_000);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
    advanceClock(61_000);
    assert.equal(await facilitator.supported(), undefined);
  });

  it('logs unknown kinds when that begins, once a minute, and when it ends', async () => {
    const facilitator = client();
    const loggedLines = () =>
      lines.splice(0).map(({ level, event, why }) => [level, event, ...(why ? [why] : [])]);
    fake.supported.always(answersHtml(503));
    for (let visit = 0; visit < 3; visit += 1) await facilitator.supported();
    assert.deepEqual(loggedLines(), [['error', 'facilitator.supported_unknown', 'HTTP 503']]);
    advanceClock(61_000);
    fake.supported.always(answers(200, { supported: [] }));
    await facilitator.supported();
    assert.match(loggedLines().join(), /supported_unknown,HTTP 200 without JSON that has kinds/);
    fake.supported.honest();
    await facilitator.supported();
    assert.deepEqual(loggedLines(), [['info', 'facilitator.supported_known']]);
    fake.supported.always(answers(500));
    advanceClock(61_000);
    await facilitator.supported();
    assert.deepEqual(loggedLines(), [['warn', 'facilitator.supported_unknown', 'HTTP 500']]);
    await fake.close();
    advanceClock(600_000);
    await facilitator.supported();
    assert.match(loggedLines().join(), /^error,facilitator.supported_unknown,(UND_ERR_SOCKET|ECONN)/);
  });

  it('treats an answer above the size limit as no answer', async () => {
    const transaction = `0x${'ab'.repeat(32)}`;
    const success = { success: true, transaction, network: 'eip155:84532', padding: 'x'.repeat(300_000) };
    fake.settle.next(answers(200, success));
    const verdict = await client().settle({ paymentRequirements: entryFor('eip155:84532') } as never);
    assert.deepEqual([verdict.kind, 'mayStillRun' in verdict && verdict.mayStillRun], ['unknown', true]);
  });

  it('has no kinds before the first answer, and requests them again at the next call', async () => {
    const facilitator = client();
    fake.supported.next(answersHtml(200));
    assert.equal(await facilitator.supported(), undefined);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
  });

  it('aborts a call at its timeout', async () => {
    const facilitator = client({ timeoutMs: 100 });
    fake.supported.next(slow(600_000));
    assert.equal(await facilitator.supported(), undefined);
  });

  for (const [maxConnections, atOnce] of [
    [undefined, 128],
    [150, 150],
    [3, 3],
  ] as const) {
    it(`has ${atOnce} calls in flight where ${maxConnections ?? 'nothing'} is set, and sends the next when one ends`, async () => {
      const facilitator = client({ maxConnections, timeoutMs: 60_000 });
      const hold = fake.verify.holdNext();
      const others = fake.verify.holdAll();
      const calls = Array.from({ length: atOnce + 1 }, () => facilitator.verify(request));
      await fake.waitForCall('verify', atOnce);
      assert.equal(fake.calls.verify.length, atOnce);
      hold.release();
      await fake.waitForCall('verify', atOnce + 1);
      others.release();
      await Promise.all(calls);
    });
  }

  it('opens no more connections than its share of calls in flight', async () => {
    const facilitator = client({ maxConnections: 20, share: 3 });
    await Promise.all(Array.from({ length: 100 }, () => facilitator.verify(request)));
    assert.deepEqual([fake.calls.verify.length, fake.edge.mostConnections], [100, 3]);
  });

  it('reports that a call could not be sent in time, and when to retry', async () => {
    const facilitator = client({ maxConnections: 1, timeoutMs: 60_000 });
    const hold = fake.settle.holdNext(answers(401));
    const first = facilitator.settle(request);
    await fake.waitForCall('settle');
    const { kind, ...rest } = await facilitator.verify(request, 20);
    assert.deepEqual([kind, 'forMs' in rest && rest.forMs], ['unavailable', 1000]);
    hold.release();
    assert.equal((await first).kind, 'not_processed');
    assert.equal(fake.calls.verify.length, 0);
  });

  it('sends nothing while Retry-After asks it to wait, at most for a minute', async () => {
    const facilitator = client();
    const refuse = (status: number, retryAfter: string): void =>
      fake.verify.next({
        works: false,
        answer: () => ({ status, body: 'slow down', headers: { 'retry-after': retryAfter } }),
      });
    refuse(429, '20');
    const first = await facilitator.verify(request);
    assert.deepEqual(first, { kind: 'unavailable', why: 'HTTP 429', forMs: 20_000 });
    const second = await facilitator.verify(request);
    assert.ok(second.kind === 'unavailable' && (second.forMs ?? 0) > 10_000);
    const settled = await facilitator.settle(request);
    assert.ok(settled.kind === 'postponed' && settled.forMs > 10_000);
    assert.deepEqual([fake.calls.verify.length, fake.calls.settle.length], [1, 0]);
    const waited = lines.filter(({ event }) => event === 'facilitator.asked_to_wait');
    assert.deepEqual(
      waited.map(({ status, seconds }) => [status, seconds]),
      [[429, 20]],
    );
    const other = client();
    refuse(503, new Date(Date.now() + 3_600_000).toUTCString());
    assert.deepEqual(await other.verify(request), {
      kind: 'unavailable',
      why: 'HTTP 503',
      forMs: 60_000,
    });
  });

  it('lets a Retry-After hold back only the network that it is about, and all when two agree or /supported asks', async () => {
    const refusal = { status: 503, body: 'slow down', headers: { 'retry-after': '20' } };
    const refuse = { works: false, answer: () => refusal } as const;
    const facilitator = client();
    fake.settle.next(refuse);
    await facilitator.settle(request);
    assert.equal((await facilitator.verify(request, 20)).kind, 'unavailable');
    assert.equal(fake.calls.verify.length, 0);
    fake.verify.next(refuse);
    await facilitator.verify(onSolana);
    assert.equal(fake.calls.verify.length, 1);
    assert.equal(await facilitator.supported(), undefined);
    assert.equal(fake.calls.supported.length, 0);
    const other = client();
    fake.supported.next(refuse);
    await other.supported();
    assert.equal((await other.verify(onSolana, 20)).kind, 'unavailable');
    assert.equal(fake.calls.verify.length, 1);
  });

  it('postpones a /settle at once while its network is paused, and its place is free for another', async () => {
    const facilitator = client();
    const answer = { status: 429, body: '', headers: { 'retry-after': '2' } };
    fake.settle.next({ works: false, answer: () => answer });
    await facilitator.settle(request);
    const postponed = await facilitator.settle(request);
    assert.ok(postponed.kind === 'postponed' && postponed.forMs > 500);
    assert.equal(fake.calls.settle.length, 1);
  });

  it('does not pause after other answers', async () => {
    const facilitator = client();
    for (const [status, retryAfter] of [
      [429, '0'],
      [503, 'soon'],
      [500, '30'],
      [200, '30'],
    ] as const) {
      const answer = { status, body: {}, headers: { 'retry-after': retryAfter } };
      fake.verify.next({ works: false, answer: () => answer });
      await facilitator.verify(request);
    }
    await facilitator.verify(request);
    assert.equal(fake.calls.verify.length, 5);
  });

  it('counts whom it does not serve, and logs an error when that is the seller', async () => {
    const facilitator = client();
    const refuse = (reason: string) => answers(200, { isValid: false, invalidReason: reason });
    fake.verify.next(
      refuse('kyt_risk_detected'),
      refuse('insufficient_funds'),
      refuse('registration_required'),
    );
    for (let call = 0; call < 3; call += 1) await facilitator.verify(request);
    fake.settle.next(answers(200, { success: false, errorReason: 'registration_required' }));
    const { kind } = await facilitator.settle(request);
    assert.equal(kind, 'rejected');
    assert.deepEqual(facilitator.refusals, { wallet: 1, seller: 2 });
    assert.deepEqual(
      lines.map(({ level, event, facilitator: name, reason }) => [level, event, name, reason]),
      Array(2).fill(['error', 'facilitator.refused_seller', NAMED.name, 'registration_required']),
    );
  });

  it('sends no token without a key', async () => {
    await client().supported();
    assert.equal(fake.calls.supported[0]?.headers.authorization, undefined);
  });

  it('sends its token with every call', async () => {
    const facilitator = client({ auth: { kind: 'bearer', secret: 'token' } });
    await facilitator.supported();
    await facilitator.verify(request);
    for (const call of [...fake.calls.supported, ...fake.calls.verify])
      assert.equal(call.headers.authorization, 'Bearer token');
  });
});
