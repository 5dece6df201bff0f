import assert from 'node:assert/strict';
import { altered, answers, answersHtml, slow } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { advanceClock } from '../../../shared/process/clock.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { NAMED, openFacilitatorClients, request } from './facilitator-clients.js';

const on = (network: string): FacilitatorRequest => ({
  ...request,
  paymentRequirements: { ...request.paymentRequirements, network },
});

describe('the facilitator client', () => {
  const { client, fake, lines } = openFacilitatorClients();

  it('requests /supported once for concurrent callers and once a minute', async () => {
    const facilitator = client();
    const all = await Promise.all(Array.from({ length: 20 }, () => facilitator.supported()));
    assert.ok(all.every((kinds) => kinds?.has('eip155:84532')));
    advanceClock(44_000);
    await facilitator.supported();
    assert.equal(fake().calls.supported.length, 1);
    advanceClock(17_000);
    await facilitator.supported();
    assert.equal(fake().calls.supported.length, 2);
  });

  it('refreshes a copy before it is a minute old, while the copy serves', async () => {
    const facilitator = client();
    await facilitator.supported();
    fake().supported.always(slow(600_000));
    advanceClock(50_000);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
    await eventually(() => assert.equal(fake().calls.supported.length, 2));
  });

  it('serves a copy while the facilitator hangs: after a second, then at once', async () => {
    const facilitator = client({ timeoutMs: 600_000 });
    await facilitator.supported();
    fake().supported.always(slow(600_000));
    advanceClock(61_000);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
    advanceClock(9 * 60_000 - 61_000);
    for (let visit = 0; visit < 3; visit += 1)
      assert.ok((await facilitator.supported())?.has('eip155:84532'));
    assert.equal(fake().calls.supported.length, 2);
  });

  it('serves a copy at once after a refresh has failed, and asks again beside it', async () => {
    const facilitator = client();
    await facilitator.supported();
    fake().supported.next(answers(500));
    advanceClock(61_000);
    await facilitator.supported();
    fake().supported.always(slow(600_000));
    advanceClock(6_000);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
    await eventually(() => assert.equal(fake().calls.supported.length, 3));
  });

  it('uses a copy for up to ten minutes while the facilitator does not answer', async () => {
    const facilitator = client();
    await facilitator.supported();
    fake().supported.always(answers(500));
    advanceClock(9 * 60_000);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
    advanceClock(61_000);
    assert.equal(await facilitator.supported(), undefined);
  });

  it('logs unknown kinds when that begins, once a minute, and when it ends', async () => {
    const facilitator = client();
    const loggedLines = () =>
      lines.splice(0).map(({ level, event, why }) => [level, event, ...(why ? [why] : [])]);
    fake().supported.always(answersHtml(503));
    for (let visit = 0; visit < 3; visit += 1) await facilitator.supported();
    assert.deepEqual(loggedLines(), [['error', 'facilitator.supported_unknown', 'HTTP 503']]);
    advanceClock(61_000);
    fake().supported.always(answers(200, { supported: [] }));
    await facilitator.supported();
    assert.match(loggedLines().join(), /supported_unknown,HTTP 200 without JSON that has kinds/);
    fake().supported.honest();
    await facilitator.supported();
    assert.deepEqual(loggedLines(), [['info', 'facilitator.supported_known']]);
    fake().supported.always(answers(500));
    advanceClock(61_000);
    await facilitator.supported();
    assert.deepEqual(loggedLines(), [['warn', 'facilitator.supported_unknown', 'HTTP 500']]);
    await fake().close();
    advanceClock(600_000);
    await facilitator.supported();
    assert.match(loggedLines().join(), /^error,facilitator.supported_unknown,(UND_ERR_SOCKET|ECONN)/);
  });

  describe('after the clock was set back by an hour', () => {
    const setBack = (): void => advanceClock(-3_600_000);

    it('asks for the kinds again when nothing is known of them', async () => {
      const facilitator = client();
      fake().supported.next(answers(500));
      assert.equal(await facilitator.supported(), undefined);
      setBack();
      assert.ok((await facilitator.supported())?.has('eip155:84532'));
    });

    it('refreshes its copy', async () => {
      const facilitator = client();
      await facilitator.supported();
      setBack();
      await facilitator.supported();
      await eventually(() => assert.equal(fake().calls.supported.length, 2));
    });
  });

  it('treats an answer above the size limit as no answer', async () => {
    fake().settle.next(altered({ padding: 'x'.repeat(300_000) }));
    const verdict = await client().settle(request);
    assert.equal('mayStillRun' in verdict && verdict.mayStillRun, true);
  });

  it('has no kinds before the first answer, and requests them again at the next call', async () => {
    const facilitator = client();
    fake().supported.next(answersHtml(200));
    assert.equal(await facilitator.supported(), undefined);
    assert.ok((await facilitator.supported())?.has('eip155:84532'));
  });

  it('aborts a call at its timeout', async () => {
    const facilitator = client({ timeoutMs: 100 });
    fake().supported.next(slow(600_000));
    assert.equal(await facilitator.supported(), undefined);
  });

  it('aborts a settlement at its own timeout, as one that may still run', async () => {
    const facilitator = client({ timeoutMs: 600_000, settleTimeoutMs: 100 });
    fake().settle.next(slow(600_000));
    const verdict = await facilitator.settle(request);
    assert.equal('mayStillRun' in verdict && verdict.mayStillRun, true);
  });

  for (const [maxConnections, atOnce] of [
    [undefined, 128],
    [150, 150],
    [3, 3],
  ] as const) {
    it(`has ${atOnce} calls in flight where ${maxConnections ?? 'nothing'} is set, and sends the next when one ends`, async () => {
      const facilitator = client({ maxConnections, timeoutMs: 60_000 });
      const hold = fake().verify.holdNext();
      const others = fake().verify.holdAll();
      const calls = Array.from({ length: atOnce + 1 }, (_, index) =>
        facilitator.verify(on(`eip155:${index}`)),
      );
      await fake().waitForCall('verify', atOnce);
      assert.equal(fake().calls.verify.length, atOnce);
      hold.release();
      await fake().waitForCall('verify', atOnce + 1);
      others.release();
      await Promise.all(calls);
    });
  }

  it('leaves a quarter of its calls to other networks', async () => {
    const facilitator = client({ maxConnections: 8, timeoutMs: 60_000 });
    const others = fake().verify.holdAll();
    const calls = Array.from({ length: 20 }, () => facilitator.verify(request));
    await fake().waitForCall('verify', 6);
    calls.push(facilitator.verify(on('eip155:1')));
    await fake().waitForCall('verify', 7);
    const { body } = fake().calls.verify.at(-1) ?? {};
    assert.equal((body as FacilitatorRequest).paymentRequirements.network, 'eip155:1');
    others.release();
    await Promise.all(calls);
  });

  it('opens no more connections than its share of calls in flight', async () => {
    const facilitator = client({ maxConnections: 20, share: 3 });
    await Promise.all(Array.from({ length: 100 }, (_, index) => facilitator.verify(on(`eip155:${index}`))));
    assert.deepEqual([fake().calls.verify.length, fake().edge.mostConnections], [100, 3]);
  });

  it('reports that a call could not be sent in time, and when to retry', async () => {
    const facilitator = client({ maxConnections: 1, timeoutMs: 60_000 });
    const hold = fake().settle.holdNext(answers(401));
    const first = facilitator.settle(request);
    await fake().waitForCall('settle');
    const { kind, ...rest } = await facilitator.verify(request, 20);
    assert.deepEqual([kind, 'forMs' in rest && rest.forMs], ['unavailable', 1000]);
    hold.release();
    assert.equal((await first).kind, 'not_processed');
    assert.equal(fake().calls.verify.length, 0);
  });

  it('counts whom it does not serve, and logs an error when that is the seller', async () => {
    const facilitator = client();
    const refuse = (reason: string) => answers(200, { isValid: false, invalidReason: reason });
    fake().verify.next(
      refuse('kyt_risk_detected'),
      refuse('insufficient_funds'),
      refuse('registration_required'),
    );
    for (let call = 0; call < 3; call += 1) await facilitator.verify(request);
    fake().settle.next(answers(200, { success: false, errorReason: 'registration_required' }));
    const { kind } = await facilitator.settle(request);
    assert.equal(kind, 'rejected');
    assert.deepEqual(facilitator.refusals, { wallet: 1, seller: 2 });
    const logged = lines.map(({ level, event, facilitator: name, reason }) => [level, event, name, reason]);
    assert.deepEqual(
      logged,
      Array(2).fill(['error', 'facilitator.refused_seller', NAMED.name, 'registration_required']),
    );
  });

  it('sends its token with every call, and none without a key', async () => {
    await client().supported();
    const facilitator = client({ auth: { kind: 'bearer', secret: 'token' } });
    await facilitator.supported();
    await facilitator.verify(request);
    const sent = [...fake().calls.supported, ...fake().calls.verify].map(
      (call) => call.headers.authorization,
    );
    assert.deepEqual(sent, [undefined, 'Bearer token', 'Bearer token']);
  });
});
