import assert from 'node:assert/strict';
import type { Behaviour } from '../../../lab/world/facilitator/dial.js';
import type { FacilitatorRequest } from '../../../shared/x402/wire.js';
import { openFacilitatorClients, request } from './facilitator-clients.js';
import { entryFor, SOLANA_DEVNET } from './offers.js';

const waits = (status: number, retryAfter: string): Behaviour => ({
  works: false,
  answer: () => ({ status, body: 'slow down', headers: { 'retry-after': retryAfter } }),
});
const onSolana = { paymentRequirements: entryFor(SOLANA_DEVNET) } as never;

describe('the facilitator client, asked to wait,', () => {
  const { client, fake, lines } = openFacilitatorClients();

  it('sends nothing while Retry-After asks it to wait, at most for a minute', async () => {
    const facilitator = client();
    fake().verify.next(waits(429, '20'));
    const first = await facilitator.verify(request);
    assert.deepEqual(first, { kind: 'unavailable', why: 'HTTP 429', forMs: 20_000 });
    const second = await facilitator.verify(request);
    assert.ok(second.kind === 'unavailable' && (second.forMs ?? 0) > 10_000);
    const settled = await facilitator.settle(request);
    assert.ok(settled.kind === 'postponed' && settled.forMs > 10_000);
    assert.deepEqual([fake().calls.verify.length, fake().calls.settle.length], [1, 0]);
    const [waited, ...others] = lines.filter(({ event }) => event === 'facilitator.asked_to_wait');
    assert.deepEqual([waited?.status, waited?.seconds, others], [429, 20, []]);
    const other = client();
    fake().verify.next(waits(503, new Date(Date.now() + 3_600_000).toUTCString()));
    const minute = { kind: 'unavailable', why: 'HTTP 503', forMs: 60_000 };
    assert.deepEqual(await other.verify(request), minute);
  });

  it('lets a Retry-After hold back only the network that it is about, and all when two agree or /supported asks', async () => {
    const refuse = waits(429, '20');
    const facilitator = client();
    fake().settle.next(refuse);
    await facilitator.settle(request);
    assert.equal((await facilitator.verify(request, 20)).kind, 'unavailable');
    assert.equal(fake().calls.verify.length, 0);
    fake().verify.next(refuse);
    await facilitator.verify(onSolana);
    assert.equal(fake().calls.verify.length, 1);
    assert.equal(await facilitator.supported(), undefined);
    assert.equal(fake().calls.supported.length, 0);
    const other = client();
    fake().supported.next(refuse);
    await other.supported();
    assert.equal((await other.verify(onSolana, 20)).kind, 'unavailable');
    assert.equal(fake().calls.verify.length, 1);
  });

  it('lets a 503 with Retry-After hold back only the wallet that is paid on that network, until another payer gets one too', async () => {
    const facilitator = client();
    const { paymentRequirements } = request;
    const asks = (payTo: string, from: string): FacilitatorRequest =>
      ({
        paymentRequirements: { ...paymentRequirements, payTo },
        paymentPayload: { payload: { authorization: { from } } },
      }) as FacilitatorRequest;
    const refuse = waits(503, '20');
    fake().verify.next(refuse);
    await facilitator.verify(asks('shop', 'buyer'));
    assert.equal((await facilitator.verify(asks('shop', 'other'), 20)).kind, 'unavailable');
    assert.equal(fake().calls.verify.length, 1);
    fake().verify.next(refuse, refuse);
    await facilitator.verify(asks('another shop', 'buyer'));
    await facilitator.verify(asks('a third shop', 'other'));
    assert.equal(fake().calls.verify.length, 3);
    await facilitator.verify(asks('a fourth shop', 'other'), 20);
    assert.equal(fake().calls.verify.length, 3);
    await facilitator.verify(onSolana);
    assert.equal(fake().calls.verify.length, 4);
  });

  it('postpones a /settle at once while its network is paused, and its place is free for another', async () => {
    const facilitator = client();
    fake().settle.next(waits(429, '2'));
    await facilitator.settle(request);
    const postponed = await facilitator.settle(request);
    assert.ok(postponed.kind === 'postponed' && postponed.forMs > 500);
    assert.equal(fake().calls.settle.length, 1);
  });

  it('does not pause after other answers', async () => {
    const facilitator = client();
    for (const [status, retryAfter] of [
      [429, '0'],
      [503, 'soon'],
      [500, '30'],
      [200, '30'],
    ] as const) {
      fake().verify.next(waits(status, retryAfter));
      await facilitator.verify(request);
    }
    await facilitator.verify(request);
    assert.equal(fake().calls.verify.length, 5);
  });
});
