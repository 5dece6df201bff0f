import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import request from 'supertest';
import { altered, answers, refuses } from '../../../lab/world/facilitator/dial.js';
import type { FakeFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { paymentHeader, signSolanaPayment } from '../../../lab/world/shop/agent.js';
import { advanceClock, resetClock } from '../../../shared/process/clock.js';
import type { PaymentRequirements } from '../../../shared/x402/wire.js';
import { openTestApp } from '../../support/app.js';
import { BASE_SEPOLIA, FAILED, findEntry, SOLANA_DEVNET, X_LAYER_TESTNET } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import {
  assertCalls,
  callsOf,
  nameOf,
  openTwoFacilitators,
  type TwoFacilitators,
} from '../../support/two-facilitators.js';

const AWAY_MS = 3_600_000;
const BLOCKHASH = Keypair.generate().publicKey.toBase58();

describe('several facilitators', () => {
  let shop: TwoFacilitators;

  async function open(...options: Parameters<typeof openTwoFacilitators>): Promise<string> {
    shop = await openTwoFacilitators(...options);
    return (await shop.buildSession()).id;
  }

  afterEach(async () => {
    resetClock();
    await shop.close();
  });

  describe('in the order of preference', () => {
    it('the first verifies and settles while it answers, and the row and the history name it', async () => {
      const id = await open();
      assert.equal((await shop.pay(id)).status, 200);
      assertCalls(shop, [1, 1], [0, 0]);
      const { facilitator, history } = await shop.payment(id);
      assert.equal(facilitator, nameOf(shop.first));
      assert.deepEqual(
        history.map(({ facilitator: said }) => said),
        [nameOf(shop.first)],
      );
    });

    it('a link offers what they serve together, and each network is served by one that lists it', async () => {
      const id = await open({ networks: [[BASE_SEPOLIA], [BASE_SEPOLIA, X_LAYER_TESTNET]] });
      const { accepts } = await shop.quote(id);
      assert.deepEqual(
        new Set(accepts.map(({ network }) => network)),
        new Set([BASE_SEPOLIA, X_LAYER_TESTNET]),
      );
      assert.equal((await shop.pay(id, { network: X_LAYER_TESTNET })).status, 200);
      assertCalls(shop, [0, 0], [1, 1]);
    });

    it('a refusal is final: the other is not asked', async () => {
      const id = await open();
      shop.first.verify.next(refuses('invalid_exact_evm_payload_authorization_valid_before'));
      assert.equal((await shop.pay(id)).status, 402);
      assertCalls(shop, [1, 0], [0, 0]);
    });
  });

  describe('when the first is away', () => {
    it('the second verifies and settles, links and /readyz stay as they are, and its metrics say so', async () => {
      const id = await open({ environment: { METRICS_TOKEN: 'metrics-token-of-a-spec' } });
      const before = await shop.quote(id);
      await shop.first.crash(AWAY_MS);
      assert.equal((await shop.pay(id)).status, 200);
      assert.equal((await shop.payment(id)).facilitator, nameOf(shop.second));
      const another = await shop.buildSession();
      assert.deepEqual(
        (await shop.quote(another.id)).accepts.filter(({ network }) => network.startsWith('eip155:')),
        before.accepts.filter(({ network }) => network.startsWith('eip155:')),
      );
      assert.equal((await request(shop.app.server).get('/readyz')).status, 200);
      // The copies of both are over: the first does not answer, the second does.
      advanceClock(601_000);
      const later = await shop.buildSession();
      assert.equal((await shop.pay(later.id)).status, 200);
      const page = await request(shop.app.server)
        .get('/metrics')
        .set('Authorization', 'Bearer metrics-token-of-a-spec');
      const silent = (one: FakeFacilitator, value: number): RegExp =>
        new RegExp(`checkout_facilitator_silent\\{facilitator="${nameOf(one)}"\\} ${value}`);
      assert.match(page.text, silent(shop.first, 1));
      assert.match(page.text, silent(shop.second, 0));
    });

    it('at the start of the service, too', async () => {
      const id = await open();
      await shop.first.crash(AWAY_MS);
      assert.equal((await shop.pay(id)).status, 200);
      assert.equal((await shop.payment(id)).facilitator, nameOf(shop.second));
    });

    it('a network that only it serves is answered 503, and the others are paid', async () => {
      const id = await open({ networks: [[BASE_SEPOLIA], [X_LAYER_TESTNET]] });
      await shop.quote(id);
      await shop.first.crash(AWAY_MS);
      assert.equal(answerOf(await shop.pay(id)), '503 payment_service_unavailable');
      assert.equal((await shop.pay(id, { network: X_LAYER_TESTNET })).status, 200);
    });

    it('both away: 503, and the same signature pays when one is back', async () => {
      const id = await open();
      const { header } = await shop.sign(id);
      await Promise.all([shop.first.crash(AWAY_MS), shop.second.crash(AWAY_MS)]);
      const pay = () => shop.visit(id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(await pay()), '503 payment_service_unavailable');
      await shop.second.revive();
      assert.equal((await pay()).status, 200);
    });
  });

  describe('when /verify has no answer', () => {
    it('of the first, which answers without a verdict, the second gives it', async () => {
      const id = await open();
      shop.first.verify.always(answers(200, {}));
      assert.equal((await shop.pay(id)).status, 200);
      assertCalls(shop, [1, 0], [1, 1]);
    });

    it('of the first, which hangs, the second answers within the same time, and is asked first from then on', async () => {
      const id = await open({ environment: { FACILITATOR_TIMEOUT_MS: '3000' } });
      shop.first.verify.holdAll();
      assert.equal((await shop.pay(id)).status, 200);
      assert.equal((await shop.payment(id)).facilitator, nameOf(shop.second));
      const next = await shop.buildSession();
      assert.equal((await shop.pay(next.id)).status, 200);
      assertCalls(shop, [1, 0], [2, 2]);
    });

    it('of both, which hang, the buyer is answered 503 within the time of one', async () => {
      const id = await open({ environment: { FACILITATOR_TIMEOUT_MS: '1000' } });
      const { header } = await shop.sign(id);
      for (const { verify } of [shop.first, shop.second]) verify.holdAll();
      assert.equal(
        answerOf(await shop.visit(id, { 'PAYMENT-SIGNATURE': header })),
        '503 payment_service_unavailable',
      );
      assertCalls(shop, [1, 0], [1, 0]);
      assert.deepEqual(await shop.payments(id), []);
    });

    it('a pause that one asks for holds back no payment of the other', async () => {
      const id = await open();
      const paused = { status: 429, body: {}, headers: { 'retry-after': '60' } };
      shop.first.verify.next({ works: false, answer: () => paused });
      assert.equal((await shop.pay(id)).status, 200);
      const next = await shop.buildSession();
      assert.equal((await shop.pay(next.id)).status, 200);
      assertCalls(shop, [1, 0], [2, 2]);
    });
  });

  describe('a Solana payment', () => {
    const feePayerOf = ({ extra }: PaymentRequirements): string =>
      'feePayer' in extra ? extra.feePayer : '';
    const entryOf = async (id: string): Promise<PaymentRequirements> =>
      findEntry((await shop.quote(id)).accepts, SOLANA_DEVNET);
    const sign = (entry: PaymentRequirements): string =>
      paymentHeader(entry, signSolanaPayment(entry, { payer: Keypair.generate(), blockhash: BLOCKHASH }));

    it('belongs to the facilitator of its fee payer, and no other verifies or settles it', async () => {
      const id = await open();
      const entry = await entryOf(id);
      assert.equal(feePayerOf(entry), shop.first.feePayers[0]);
      const header = sign(entry);
      shop.first.verify.next(answers(500));
      const pay = () => shop.visit(id, { 'PAYMENT-SIGNATURE': header });
      assert.equal(answerOf(await pay()), '503 payment_service_unavailable');
      assert.equal((await pay()).status, 200);
      assertCalls(shop, [2, 1], [0, 0]);
    });

    it('is offered with the fee payer of one that answers, and an earlier signature stays its facilitator’s', async () => {
      const id = await open();
      const early = sign(await entryOf(id));
      shop.first.verify.next(answers(500));
      assert.equal(
        answerOf(await shop.visit(id, { 'PAYMENT-SIGNATURE': early })),
        '503 payment_service_unavailable',
      );
      const next = await shop.buildSession();
      const other = await entryOf(next.id);
      assert.equal(feePayerOf(other), shop.second.feePayers[0]);
      assert.equal((await shop.visit(next.id, { 'PAYMENT-SIGNATURE': sign(other) })).status, 200);
      assert.equal((await shop.payment(next.id)).facilitator, nameOf(shop.second));
      assert.equal((await shop.visit(id, { 'PAYMENT-SIGNATURE': early })).status, 200);
      assert.equal((await shop.payment(id)).facilitator, nameOf(shop.first));
    });

    for (const isRestarted of [false, true])
      it(`stays its facilitator’s, which lists another fee payer since${isRestarted ? ', also after a restart of web' : ''}`, async () => {
        const id = await open();
        shop.first.supported.always({ works: false, connection: 'reset' });
        const entry = await entryOf(id);
        assert.equal(feePayerOf(entry), shop.second.feePayers[0]);
        shop.first.supported.honest();
        const feePayer = Keypair.generate().publicKey.toBase58();
        const kinds = [{ x402Version: 2, scheme: 'exact', network: SOLANA_DEVNET, extra: { feePayer } }];
        shop.second.supported.always(altered({ kinds, signers: { 'solana:*': [feePayer] } }));
        // The copies of both lists are read again.
        advanceClock(130_000);
        const urls = { FACILITATOR_URL: shop.first.url, FACILITATOR_URL_2: shop.second.url };
        const app = isRestarted ? await openTestApp(urls) : shop.app;
        await request(app.server).get(`/c/${id}`);
        const answer = await request(app.server).get(`/c/${id}`).set('PAYMENT-SIGNATURE', sign(entry));
        if (isRestarted) await app.close();
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        assert.equal((await shop.payment(id)).facilitator, nameOf(shop.second));
        assert.deepEqual([callsOf(shop.first)[1], callsOf(shop.second)], [0, [1, 1]]);
      });

    it('is offered with the other’s fee payer while one disowns the fee payer that it lists', async () => {
      const id = await open();
      const pay = async (): Promise<[string | undefined, string]> => {
        const entry = await entryOf(id);
        const owner = [shop.first, shop.second].find(({ feePayers }) =>
          feePayers.includes(feePayerOf(entry)),
        );
        return [owner?.url, answerOf(await shop.visit(id, { 'PAYMENT-SIGNATURE': sign(entry) }))];
      };
      const disowned = 'invalid_exact_svm_fee_payer_not_managed_by_facilitator';
      shop.first.verify.next(refuses(disowned));
      assert.deepEqual(await pay(), [shop.first.url, `402 ${disowned}`]);
      assert.equal(feePayerOf(await entryOf(id)), shop.second.feePayers[0]);
      // It may have its key again: it is offered first after a minute.
      advanceClock(61_000);
      assert.equal(feePayerOf(await entryOf(id)), shop.first.feePayers[0]);
      shop.first.verify.next(refuses(disowned));
      assert.deepEqual(await pay(), [shop.first.url, `402 ${disowned}`]);
      assert.deepEqual(await pay(), [shop.second.url, '200 complete']);
      assertCalls(shop, [2, 0], [1, 1]);
    });

    it('is not settled by the other when its own is not reached', async () => {
      const id = await open({ worker: false, environment: { SETTLE_WAIT_MS: '0' } });
      const header = sign(await entryOf(id));
      assert.equal(answerOf(await shop.visit(id, { 'PAYMENT-SIGNATURE': header })), '202 processing');
      await shop.first.crash(AWAY_MS);
      await shop.startWorker();
      await eventually(async () => assert.deepEqual(await shop.state(id), FAILED));
      assert.equal(callsOf(shop.second)[1], 0);
    });
  });
});
