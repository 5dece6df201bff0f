import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { answers, breaksAfterWork, failsAfterWork } from '../../../lab/world/facilitator/dial.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import { FAILED, PAID } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import {
  callsOf,
  nameOf,
  openTwoFacilitators,
  type TwoFacilitators,
} from '../../support/two-facilitators.js';

const AWAY_MS = 3_600_000;

describe('the settlement by several facilitators', () => {
  let shop: TwoFacilitators;

  async function open(...options: Parameters<typeof openTwoFacilitators>): Promise<string> {
    shop = await openTwoFacilitators(...options);
    return (await shop.buildSession()).id;
  }

  afterEach(async () => {
    resetClock();
    await shop.close();
  });

  const moved = (): number => shop.first.ledger.length + shop.second.ledger.length;

  /** Claims a payment that the first facilitator has verified and no worker has taken yet. */
  async function claim(settings: Record<string, string> = {}): Promise<string> {
    const id = await open({ worker: false, environment: { SETTLE_WAIT_MS: '0', ...settings } });
    assert.equal(answerOf(await shop.pay(id)), '202 processing');
    assert.equal((await shop.payment(id)).facilitator, nameOf(shop.first));
    return id;
  }

  describe('when /settle is not reached', () => {
    it('surely nothing was sent: the other settles, and owns the payment from then on', async () => {
      const id = await claim();
      await shop.first.crash(AWAY_MS);
      await shop.startWorker();
      await eventually(async () => assert.deepEqual(await shop.state(id), PAID));
      assert.deepEqual([callsOf(shop.first)[1], callsOf(shop.second)[1]], [0, 1]);
      const { facilitator, history } = await shop.payment(id);
      assert.equal(facilitator, nameOf(shop.second));
      assert.deepEqual(
        history.map(({ facilitator: said, row }) => [said, row]),
        [
          [nameOf(shop.first), 'answer-not_processed-4'],
          [nameOf(shop.second), 'answer-settled-3'],
        ],
      );
    });

    it('with both away the payment fails, and the same signature pays later', async () => {
      const id = await open({ worker: false, environment: { SETTLE_WAIT_MS: '0' } });
      const { header } = await shop.sign(id);
      const pay = () => shop.visit(id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(await pay()), '202 processing');
      await Promise.all([shop.first.crash(AWAY_MS), shop.second.crash(AWAY_MS)]);
      await shop.startWorker();
      await eventually(async () => assert.deepEqual(await shop.state(id), FAILED));
      assert.equal((await shop.payment(id)).failureCode, 'payment_service_unavailable');
      await shop.first.revive();
      assert.equal(answerOf(await pay()), '202 processing');
      await eventually(async () => assert.equal((await shop.session(id)).status, 'complete'));
      assert.equal(moved(), 1);
    });
  });

  describe('after an unclear /settle', () => {
    for (const [what, behaviour, money] of [
      ['drops the connection after it moved the money', breaksAfterWork(), 1],
      ['answers 500 after it moved the money', failsAfterWork(500), 1],
      ['answers 500 and did nothing', answers(500), 0],
    ] as const)
      it(`the other is never asked: the first ${what}`, async () => {
        const id = await claim();
        shop.first.settle.always(behaviour);
        await shop.startWorker();
        await shop.afterSettling(id);
        await shop.first.crash(AWAY_MS);
        for (let check = 0; check < 3; check += 1) {
          if ((await shop.payment(id)).status !== 'processing') break;
          shop.chain.mine();
          await shop.afterNextCheck(id, 40);
        }
        if (money === 1) await eventually(async () => assert.deepEqual(await shop.state(id), PAID));
        assert.equal(callsOf(shop.second)[1], 0);
        assert.equal(moved(), money);
        const owners = (await shop.payments(id)).map(({ facilitator }) => facilitator);
        assert.deepEqual(owners, [nameOf(shop.first)]);
      });
  });

  describe('when one is removed from the settings', () => {
    /** Claims a payment of the second facilitator. */
    async function claimOfSecond(): Promise<string> {
      const id = await open({ worker: false, environment: { SETTLE_WAIT_MS: '0' } });
      shop.first.verify.next(answers(503));
      assert.equal(answerOf(await shop.pay(id)), '202 processing');
      assert.equal((await shop.payment(id)).facilitator, nameOf(shop.second));
      return id;
    }

    it('its payment that was never sent is settled by another', async () => {
      const id = await claimOfSecond();
      await shop.startWorker(shop.withoutSecond);
      await eventually(async () => assert.deepEqual(await shop.state(id), PAID));
      assert.deepEqual([callsOf(shop.first)[1], callsOf(shop.second)[1]], [1, 0]);
      assert.equal((await shop.payment(id)).facilitator, nameOf(shop.first));
    });

    it('its payment whose outcome is unclear is decided by the chain, and no other is asked', async () => {
      const id = await claimOfSecond();
      shop.second.settle.always(breaksAfterWork());
      const worker = await shop.startWorker();
      await shop.afterSettling(id);
      await worker.close();
      if ((await shop.payment(id)).status === 'processing') {
        await shop.startWorker(shop.withoutSecond);
        shop.chain.mine();
        await shop.becomes(id, PAID);
      }
      assert.deepEqual([callsOf(shop.first)[1], callsOf(shop.second)[1]], [0, 1]);
      assert.equal(moved(), 1);
    });

    it('its payment that was sent and did nothing stays its own until the authorization is over', async () => {
      const id = await claimOfSecond();
      shop.second.settle.always(answers(500));
      const worker = await shop.startWorker();
      await shop.afterSettling(id);
      await worker.close();
      await shop.startWorker(shop.withoutSecond);
      shop.chain.mine();
      for (let check = 0; check < 3; check += 1) await shop.afterNextCheck(id, 20);
      assert.equal((await shop.payment(id)).status, 'processing');
      assert.equal(callsOf(shop.first)[1], 0);
    });
  });

  describe('when another is added or removed at the same URL, whose key is then a part of their names', () => {
    const ALONE = { FACILITATOR_URL_2: '', FACILITATOR_AUTH: 'bearer', FACILITATOR_SECRET: 'token-one' };
    const joined = (): Record<string, string> => ({
      ...ALONE,
      FACILITATOR_URL_2: shop.first.url,
      FACILITATOR_AUTH_2: 'bearer',
      FACILITATOR_SECRET_2: 'token-two',
    });
    const hash = createHash('sha256').update(ALONE.FACILITATOR_SECRET).digest('hex').slice(0, 12);

    for (const [what, isAdded] of Object.entries({ added: true, removed: false }))
      it(`a payment that was sent and did nothing is sent again by its own: ${what}`, async () => {
        const id = await open({ worker: false, environment: { SETTLE_WAIT_MS: '0', ...ALONE } });
        assert.equal(answerOf(await shop.pay(id)), '202 processing');
        const name = isAdded ? nameOf(shop.first) : `${nameOf(shop.first)} (${hash})`;
        await Payment.query(shop.app.db).patch({ facilitator: name }).where({ payableId: id });
        shop.first.settle.next(answers(500));
        const worker = await shop.startWorker(isAdded ? ALONE : joined());
        await shop.afterSettling(id);
        await worker.close();
        await shop.startWorker(isAdded ? joined() : ALONE);
        const isSentAgain = (): boolean => callsOf(shop.first)[1] === 2;
        for (let check = 0; check < 6 && !isSentAgain(); check += 1) {
          const { attempt } = await shop.payment(id);
          advanceClock(20_000);
          shop.chain.mine();
          await shop.enqueueDueWork(id);
          await eventually(async () =>
            assert.ok(isSentAgain() || (await shop.payment(id)).attempt !== attempt),
          );
        }
        await eventually(async () => assert.deepEqual(await shop.state(id), PAID));
        assert.equal(moved(), 1);
      });
  });
});
