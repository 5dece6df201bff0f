import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { nowMs, returnToPresent, travelMs } from '../../shared/clock.js';
import { Payment } from '../../shared/models/payment.js';
import { paymentJob } from '../../shared/queues/payment-job.js';
import type { Closable } from '../../shared/shutdown.js';
import { expireSessions } from '../../workers/expire-sessions.js';
import type { SignedPayment } from '../support/checkout.js';
import { walkDueWork } from '../support/due-work.js';
import { LYING_MOODS, SETTLE_MOODS, VERIFY_MOODS } from '../support/facilitator-moods.js';
import { type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';
import { TcpProxy } from '../support/pause-points.js';
import { pick, seededRandom, shuffled } from '../support/seeded-random.js';
import { testServices } from '../support/suite.js';

/** Another seed makes another run. */
const SEED = Number(process.env.MONEY_SEED ?? '20261102');
const PAYMENTS = 120;
const BUYERS = 8;
/** Of calls of /settle: more than there will be. */
const CALLS = 900;

interface Sent extends SignedPayment {
  sessionId: string;
}

/**
 * Every way of a facilitator to fail, chains and connections that go away, lost queues, ended sessions and signatures
 * sent twice, as chance has it. What must come out of it is the same each time: books that agree.
 */
describe('a hundred and twenty payments while everything goes wrong', () => {
  let flow: MoneyFlow;
  let worker: Closable;
  let proxy: TcpProxy;
  let redis: Redis;
  let isOut = false;
  const random = seededRandom(SEED);
  const sessions: string[] = [];
  const sent: Sent[] = [];
  const answers = new Map<number, number>();

  before(async () => {
    const settings = {
      SETTLE_WAIT_MS: '300',
      FACILITATOR_SETTLE_TIMEOUT_MS: '400',
      FACILITATOR_TIMEOUT_MS: '400',
    };
    flow = await openMoneyFlow('random_payments', { environment: settings, worker: false });
    const { hostname, port } = new URL(flow.facilitator.url);
    proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
    worker = await flow.startWorker({ FACILITATOR_URL: `http://127.0.0.1:${proxy.port}` });
    redis = new Redis(testServices().redisUrl);
    const moods = [...SETTLE_MOODS, ...LYING_MOODS];
    const more = Array.from({ length: CALLS }, () => pick(random, moods));
    flow.facilitator.settle.next(...[...shuffled(random, moods), ...more].map((mood) => mood()));
    flow.facilitator.verify.next(...Array.from({ length: CALLS }, () => pick(random, VERIFY_MOODS)()));
  });
  after(async () => {
    redis.disconnect();
    await flow.close();
    await proxy.refuse();
    returnToPresent();
  });

  it(`leave books that agree (MONEY_SEED=${SEED})`, async function () {
    this.timeout(120_000);
    await Promise.all(Array.from({ length: BUYERS }, buyer));
    await worker.close();
    const hands = flow.openHands();
    await walkDueWork(flow, hands);
    await expireSessions(hands.deps);
    await flow.assertBooks();

    const said = JSON.stringify([...answers]);
    assert.deepEqual(
      [...answers.keys()].filter((status) => ![200, 202, 402, 409, 410, 503].includes(status)),
      [],
      said,
    );
    const { calls, ledger } = flow.facilitator;
    assert.ok(ledger.length > 30, `${ledger.length} movements`);
    assert.ok(calls.settle.length > SETTLE_MOODS.length + LYING_MOODS.length, `${calls.settle.length} calls`);
  });

  it('and nobody was told that a payment had failed whose money moved, but where the facilitator had said so', async () => {
    const wronged = await Payment.query(flow.db).where('status', 'succeeded').whereNotNull('failedAt');
    for (const { id, history } of wronged) {
      const why = history.find(
        ({ source, said }) => source === 'facilitator' && said === 'insufficient_funds',
      );
      assert.ok(why !== undefined, `${id}: ${JSON.stringify(history)}`);
    }
  });

  async function buyer(): Promise<void> {
    while (sent.length < PAYMENTS) {
      const draw = random();
      if (draw < 0.05) await redis.flushall();
      else if (draw < 0.15) travelMs(Math.floor(random() * 8000));
      else if (draw < 0.17)
        await duringOutage(
          () => proxy.refuse(),
          () => proxy.accept(),
        );
      else if (draw < 0.19) {
        const { endpoint } = flow.chain;
        await duringOutage(
          () => endpoint.fail(pick(random, ['http_500', 'cut', 'garbage'])),
          () => endpoint.recover(),
        );
      } else if (draw < 0.45) await repeat();
      else if (draw < 0.55 && sessions.length > 0) await ringAgain(pick(random, sessions));
      else await payAnew();
    }
  }

  /** One at a time. */
  async function duringOutage(begin: () => unknown, end: () => unknown): Promise<void> {
    if (isOut) return await payAnew();
    isOut = true;
    await begin();
    await payAnew();
    await end();
    isOut = false;
  }

  /** Many end soon. */
  async function openSession(): Promise<string> {
    const expiresAt = new Date(nowMs() + 2000 + Math.floor(random() ** 3 * 600_000));
    const { id } = await flow.buildSession({ expiresAt });
    sessions.push(id);
    return id;
  }

  async function payAnew(): Promise<void> {
    const isNew = sessions.length < BUYERS || random() < 0.6;
    const sessionId = isNew ? await openSession() : pick(random, sessions);
    // One that cannot be paid any more offers nothing to sign.
    const offered = await flow.sign(sessionId).catch(() => undefined);
    if (offered === undefined) return;
    const signed = { ...offered, sessionId };
    sent.push(signed);
    const copies = Array.from({ length: random() < 0.2 ? 2 : 1 });
    await Promise.all(copies.map(() => send(sessionId, signed)));
  }

  /** A signature that was sent before, to its own session or to another. */
  async function repeat(): Promise<void> {
    if (sent.length === 0) return;
    const signed = pick(random, sent);
    await send(random() < 0.5 ? signed.sessionId : pick(random, sessions), signed);
  }

  async function send(sessionId: string, { header }: SignedPayment): Promise<void> {
    const { status } = await flow.visit(sessionId, { 'PAYMENT-SIGNATURE': header });
    answers.set(status, (answers.get(status) ?? 0) + 1);
  }

  async function ringAgain(sessionId: string): Promise<void> {
    for (const { id } of await flow.payments(sessionId)) {
      const stage = pick(random, ['settle', 'confirm'] as const);
      const dueAt = new Date(nowMs() + Math.floor(random() * 2000));
      await flow.app.queues.enqueue(paymentJob({ id, stage, attempt: Math.floor(random() * 3), dueAt }));
    }
  }
});
