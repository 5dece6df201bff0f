import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { mock } from 'node:test';
import request from 'supertest';
import { answers } from '../../lab/world/facilitator/dial.js';
import { newId } from '../../shared/values/ids.js';
import { client } from '../support/api-client.js';
import { openTestApp, type TestApp } from '../support/app.js';
import { openCheckout } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { answerOf } from '../support/link-answers.js';
import { stopClock } from '../support/stopped-clock.js';

const LIMIT = 5;
const SETTINGS = { RATE_LIMIT_LINK_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1' };

describe('the rate limit of payment links', () => {
  const checkout = forAllTests(() => openCheckout({ worker: false, environment: SETTINGS }));
  let id: string;
  /** A new address for each test, since counts persist in Redis. */
  let from: { 'X-Forwarded-For': string };

  beforeEach(async () => {
    ({ id } = await checkout.buildSession());
    from = { 'X-Forwarded-For': newAddress() };
  });

  function newAddress(): string {
    return `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  }

  async function useUp(): Promise<void> {
    for (let visits = 0; visits < LIMIT; visits += 1) {
      assert.equal(answerOf(await checkout.visit(id, from)), '402');
    }
  }

  it('ignores the addresses that a client adds to X-Forwarded-For', async () => {
    await useUp();
    const spoofed = { 'X-Forwarded-For': `${newAddress()}, ${from['X-Forwarded-For']}` };
    assert.equal(answerOf(await checkout.visit(id, spoofed)), '429 rate_limit');
  });

  it('counts all links, statuses and methods together', async () => {
    const { id: other } = await checkout.buildSession({ status: 'expired' });
    assert.equal(answerOf(await checkout.visit(other, from)), '410 session_expired');
    assert.equal(answerOf(await checkout.visit(newId('cs_test_'), from)), '404 resource_missing');
    assert.equal((await checkout.send('head', id, from)).status, 402);
    assert.equal(answerOf(await checkout.send('post', id, from)), '402');
    assert.equal(
      answerOf(await checkout.visit(id, { ...from, 'X-PAYMENT': '!' })),
      '400 invalid_payment_payload',
    );
    for (const target of [id, other, newId('cs_test_')]) {
      assert.equal(answerOf(await checkout.visit(target, from)), '429 rate_limit');
    }
    assert.equal(answerOf(await checkout.send('put', id, from)), '429 rate_limit');
  });

  it('neither counts nor limits OPTIONS', async () => {
    const options = async (): Promise<number> =>
      (await request(checkout.app.server).options(`/c/${id}`).set(from)).status;
    for (let n = 0; n < LIMIT + 1; n += 1) assert.equal(await options(), 204);
    await useUp();
    assert.equal(answerOf(await checkout.visit(id, from)), '429 rate_limit');
    assert.equal(await options(), 204);
  });

  it('shows a page to browsers', async () => {
    await useUp();
    const res = await checkout.visit(id, { ...from, Accept: 'text/html' });
    assert.equal(answerOf(res), '429 page');
  });

  it('applies to payments, which may be sent again later', async () => {
    const unlimited = await openCheckout({ facilitator: checkout.facilitator, worker: false });
    const payment = await unlimited.sign((await unlimited.buildSession()).id);
    await unlimited.app.close();
    const pay = (headers: Record<string, string>): Promise<string> =>
      checkout.visit(id, { ...headers, 'PAYMENT-SIGNATURE': payment.header }).then(answerOf);
    await useUp();
    assert.equal(await pay(from), '429 rate_limit');
    assert.deepEqual(checkout.calls(payment), { verify: 0, settle: 0 });
    assert.deepEqual(await checkout.state(id), { session: 'open', payments: [], events: [] });
    checkout.facilitator.verify.next(answers(500));
    assert.equal(await pay({ 'X-Forwarded-For': newAddress() }), '503 payment_service_unavailable');
    assert.deepEqual(checkout.calls(payment), { verify: 1, settle: 0 });
  });

  it('is exact when many come at once', async () => {
    const visits = Array.from({ length: 40 }, () => checkout.visit(id, from).then(answerOf));
    const answers = await Promise.all(visits);
    assert.equal(answers.filter((answer) => answer === '402').length, LIMIT);
    assert.equal(answers.filter((answer) => answer === '429 rate_limit').length, 40 - LIMIT);
  });

  it('is shared by all web processes', async () => {
    const second = await openTestApp(SETTINGS);
    await useUp();
    assert.equal(answerOf(await request(second.server).get(`/c/${id}`).set(from)), '429 rate_limit');
    await second.close();
  });

  it('is separate from the limit of the merchant API', async () => {
    await useUp();
    const { status } = await client(checkout.app, checkout.merchant.testKey).get('/v1/payments').set(from);
    assert.equal(status, 200);
  });

  it('is shared by all web processes, and exact, without Redis', async () => {
    const settings = { ...SETTINGS, REDIS_URL: '', FACILITATOR_URL: checkout.facilitator.url };
    const apps = await Promise.all([openTestApp(settings), openTestApp(settings)]);
    stopClock();
    try {
      const visits = Array.from({ length: 40 }, (_, i) =>
        request(apps[i % 2]?.server ?? '')
          .get(`/c/${id}`)
          .set(from),
      );
      const answers = await Promise.all(visits);
      assert.equal(answers.filter(({ status }) => status === 402).length, LIMIT);
      for (const res of answers.filter(({ status }) => status !== 402)) {
        assert.equal(answerOf(res), '429 rate_limit');
        assert.match(res.get('Retry-After') ?? '', /^([1-9]|[1-5]\d|60)$/);
      }
    } finally {
      mock.restoreAll();
      await Promise.all(apps.map((app) => app.close()));
    }
  });

  it('is counted per process while Redis is unavailable: higher, but never off', async () => {
    const settings = {
      ...SETTINGS,
      FACILITATOR_URL: checkout.facilitator.url,
      REDIS_URL: 'redis://127.0.0.1:1',
    };
    const apps = await Promise.all([openTestApp(settings), openTestApp(settings)]);
    try {
      for (const { server } of apps) {
        const visit = () => request(server).get(`/c/${id}`).set(from);
        for (let visits = 0; visits < LIMIT; visits += 1) assert.equal(answerOf(await visit()), '402');
        const refused = await visit();
        assert.equal(answerOf(refused), '429 rate_limit');
        assert.match(refused.get('Retry-After') ?? '', /^([1-9]|[1-5]\d|60)$/);
      }
    } finally {
      await Promise.all(apps.map((app) => app.close()));
    }
  });

  it('counts the address of the connection when no proxy is trusted', async () => {
    let direct: TestApp | undefined;
    try {
      direct = await openTestApp({ RATE_LIMIT_LINK_PER_MINUTE: '3' });
      const answers: string[] = [];
      // Three while the connection to Redis is made, and three in Redis.
      for (let visits = 0; visits < 7; visits += 1) {
        const res = await request(direct.server)
          .get(`/c/${newId('cs_test_')}`)
          .set('X-Forwarded-For', newAddress());
        answers.push(answerOf(res));
      }
      assert.equal(answers.at(-1), '429 rate_limit');
    } finally {
      await direct?.close();
    }
  });
});
