import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { pick, seededRandom, shuffled } from '../../lab/world/chance/seeded-random.js';
import {
  AMBIGUOUS_MOODS,
  LYING_MOODS,
  REFUSED_IF_USED_TOO,
  SETTLE_MOODS,
  VERIFY_MOODS,
} from '../../lab/world/facilitator/fault-modes.js';
import { TcpProxy } from '../../lab/world/processes/pause-points.js';
import { FreezingProxy } from '../../lab/world/proxies/freezing-proxy.js';
import { buildSession } from '../../lab/world/shop/factories.js';
import { Payment } from '../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import type { Closable } from '../../shared/process/shutdown.js';
import { paymentJob } from '../../shared/settlement/payment-job.js';
import { expireSessions } from '../../workers/jobs/expire-sessions.js';
import type { SignedPayment } from '../support/checkout.js';
import { walkDueWork } from '../support/due-work.js';
import { type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';
import { type Surroundings, TROUBLES } from '../support/random-troubles.js';
import { testServices } from '../support/suite.js';

/** Another seed makes another run. */
const SEED = Number(process.env.MONEY_SEED ?? '20261102');
const PAYMENTS = 120;
const BUYERS = 8;
/** Of calls of /settle: more than there will be. */
const CALLS = 900;

/** Of a statement; a path that freezes does so for longer. */
const PATIENCE_MS = 500;
const MOODS = [...SETTLE_MOODS, ...AMBIGUOUS_MOODS, ...LYING_MOODS];

interface Sent extends SignedPayment {
  sessionId: string;
}

/**
 * Every way of a facilitator to fail, chains that limit, lag, halt or go away, connections that break or freeze, lost
 * queues, ended sessions and signatures sent twice, as chance has it. What must come out of it is the same each time:
 * books that agree.
 */
describe('a hundred and twenty payments while everything goes wrong', () => {
  let flow: MoneyFlow;
  let worker: Closable;
  let around: Surroundings;
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
    const databases: (FreezingProxy & { databaseUrl: string })[] = [];
    flow = await openMoneyFlow('random_payments', {
      environment: { ...settings, DATABASE_QUERY_TIMEOUT_MS: String(PATIENCE_MS) },
      worker: false,
      async around(databaseUrl) {
        databases.push(await FreezingProxy.before(databaseUrl), await FreezingProxy.before(databaseUrl));
        return { DATABASE_URL: databases[0]?.databaseUrl ?? '' };
      },
    });
    const { hostname, port } = new URL(flow.facilitator.url);
    const facilitator = await TcpProxy.start({ host: hostname, port: Number(port) });
    around = { chain: flow.chain, facilitator, databases, freezeMs: PATIENCE_MS * 2 };
    worker = await flow.startWorker({
      FACILITATOR_URL: `http://127.0.0.1:${facilitator.port}`,
      DATABASE_URL: databases[1]?.databaseUrl ?? '',
    });
    redis = new Redis(testServices().redisUrl);
    const more = Array.from({ length: CALLS }, () => pick(random, MOODS));
    flow.facilitator.settle.next(...[...shuffled(random, MOODS), ...more].map((mood) => mood()));
    flow.facilitator.verify.next(...Array.from({ length: CALLS }, () => pick(random, VERIFY_MOODS)()));
  });
  after(async () => {
    redis.disconnect();
    for (const database of around.databases) database.thawAll();
    await flow.close();
    await around.facilitator.refuse();
    for (const database of around.databases) await database.refuse();
    resetClock();
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
    assert.ok(calls.settle.length > MOODS.length, `${calls.settle.length} calls`);
  });

  it('and nobody was told that a payment had failed whose money moved, but where the facilitator had said so', async () => {
    const wronged = await Payment.query(flow.db).where('status', 'succeeded').whereNotNull('failedAt');
    for (const { id, history } of wronged) {
      const lie = history.find(({ source, said }) => source === 'facilitator' && isLie(said));
      assert.ok(lie !== undefined, `${id}: ${JSON.stringify(history)}`);
    }
  });

  it('while it leaves no connection in the middle of a transaction', async () => {
    const { rows } = await flow.db.raw(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    assert.deepEqual(rows, []);
  });

  /** Its clear word; or one that a used authorization gets too, with a chain that did not contradict it. */
  function isLie(said: string): boolean {
    const [word = '', looked = ''] = said.split('; ');
    const isLookedAt = REFUSED_IF_USED_TOO.some((reason) => reason === word);
    return word === 'insufficient_funds' || (isLookedAt && /^the chain: (unused|not readable)/.test(looked));
  }

  async function buyer(): Promise<void> {
    while (sent.length < PAYMENTS) {
      const draw = random();
      if (draw < 0.05) await redis.flushall();
      else if (draw < 0.15) advanceClock(Math.floor(random() * 8000));
      else if (draw < 0.23) await duringTrouble();
      else if (draw < 0.45) await repeat();
      else if (draw < 0.55 && sessions.length > 0) await ringAgain(pick(random, sessions));
      else await payAnew();
    }
  }

  /** One at a time. */
  async function duringTrouble(): Promise<void> {
    if (isOut) return await payAnew();
    isOut = true;
    const mend = await pick(random, TROUBLES)(around, random);
    await payAnew();
    await mend();
    isOut = false;
  }

  /** Many end soon. */
  async function openSession(): Promise<string> {
    const expiresAt = new Date(nowMs() + 2000 + Math.floor(random() ** 3 * 600_000));
    const { id } = await buildSession(flow.db, flow.merchant.accountId, { expiresAt });
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
    for (const { id } of await Payment.query(flow.db).where({ checkoutSessionId: sessionId })) {
      const stage = pick(random, ['settle', 'confirm'] as const);
      const dueAt = new Date(nowMs() + Math.floor(random() * 2000));
      await flow.app.queues.enqueue(paymentJob({ id, stage, attempt: Math.floor(random() * 3), dueAt }));
    }
  }
});
