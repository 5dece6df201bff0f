import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { pick, seededRandom } from '../../../lab/world/chance/seeded-random.js';
import {
  drawFaultModes,
  settleFaultModes,
  verifyFaultModes,
} from '../../../lab/world/facilitator/fault-modes.js';
import { certaintyOf, WORDS } from '../../../lab/world/facilitator/words.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { buildSession } from '../../../lab/world/shop/factories.js';
import { Payment } from '../../../shared/payments/model.js';
import { advanceClock, nowMs, resetClock } from '../../../shared/process/clock.js';
import type { Closable } from '../../../shared/process/shutdown.js';
import { paymentJob } from '../../../shared/settlement/payment-job.js';
import { expireSessions } from '../../../workers/jobs/expire-sessions.js';
import { client } from '../../support/api-client.js';
import type { SignedPayment } from '../../support/checkout.js';
import { doAllDueWork } from '../../support/due-work.js';
import { type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';
import { FAULTS, type FaultTargets } from '../../support/random-faults.js';
import { assertWholeReport } from '../../support/report-sums.js';
import { testServices } from '../../support/suite.js';

const SEED = Number(process.env.MONEY_SEED ?? '20261102');
/** A slow machine sends more, until each behaviour of /settle has had its turn. */
const PAYMENTS = 120;
const BUYERS = 8;
/** Behaviours for more calls of /settle than the run makes. */
const CALLS = 2000;

/** The timeout of a statement; a frozen path to Postgres takes longer. */
const TIMEOUT_MS = 500;
/** Longer than the facilitator's timeouts. */
const TOO_SLOW_MS = 900;
const FAULT_MODES = settleFaultModes(TOO_SLOW_MS);

interface Sent extends SignedPayment {
  sessionId: string;
}

/**
 * Seeded random faults: every failure of a facilitator, chains that rate-limit, lag, halt or are unavailable,
 * broken and frozen connections, lost queues, expired sessions and signatures sent twice. The books must agree
 * with the facilitator's ledger after each run.
 */
describe('a hundred and twenty payments under random faults', () => {
  let flow: MoneyFlow;
  let worker: Closable;
  let around: FaultTargets;
  let redis: Redis;
  let isFaulty = false;
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
    const databases: TcpProxy[] = [];
    flow = await openMoneyFlow('random_payments', {
      environment: { ...settings, DATABASE_QUERY_TIMEOUT_MS: String(TIMEOUT_MS) },
      worker: false,
      async around(databaseUrl) {
        databases.push(await TcpProxy.start(databaseUrl), await TcpProxy.start(databaseUrl));
        return { DATABASE_URL: databases[0]?.url ?? '' };
      },
    });
    const facilitator = await TcpProxy.start(flow.facilitator.url);
    around = { chain: flow.chain, facilitator, databases, freezeMs: TIMEOUT_MS * 2 };
    worker = await flow.startWorker({
      FACILITATOR_URL: facilitator.url,
      DATABASE_URL: databases[1]?.url ?? '',
    });
    redis = new Redis(testServices().redisUrl);
    const settle = drawFaultModes(random, FAULT_MODES, { calls: CALLS, failingShare: 0.8 });
    const verify = drawFaultModes(random, verifyFaultModes(TOO_SLOW_MS), {
      calls: CALLS,
      failingShare: 0.36,
    });
    flow.facilitator.settle.next(...settle.map(({ behaviour }) => behaviour));
    flow.facilitator.verify.next(...verify.map(({ behaviour }) => behaviour));
  });
  after(async () => {
    redis.disconnect();
    for (const database of around.databases) database.thaw();
    await flow.close();
    await around.facilitator.refuse();
    for (const database of around.databases) await database.refuse();
    resetClock();
  });

  it(`are decided as the facilitator's ledger says (MONEY_SEED=${SEED})`, async () => {
    await Promise.all(Array.from({ length: BUYERS }, buyer));
    await worker.close();
    const manualWorker = flow.openManualWorker();
    await doAllDueWork(flow, manualWorker);
    await expireSessions(manualWorker.deps);
    await flow.assertBooks();

    const counts = JSON.stringify([...answers]);
    assert.deepEqual(
      [...answers.keys()].filter((status) => ![200, 202, 402, 409, 410, 503].includes(status)),
      [],
      counts,
    );
    const { merchant, facilitator } = flow;
    assert.ok(facilitator.ledger.length > 30, `${facilitator.ledger.length} movements`);
    await assertWholeReport(client(flow.app, merchant.testKey), flow.db, merchant.accountId);
  });

  it('are failed although their money moved only where the facilitator reported a failure', async () => {
    const wronged = await Payment.query(flow.db).where('status', 'succeeded').whereNotNull('failedAt');
    for (const { id, history } of wronged) {
      const lie = history.find(
        ({ source, said }, at) => source === 'facilitator' && isLie(said, history.slice(at)),
      );
      assert.ok(lie !== undefined, `${id}: ${JSON.stringify(history)}`);
    }
  });

  it('leave no connection inside a transaction', async () => {
    const { rows } = await flow.db.raw(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    );
    assert.deepEqual(rows, []);
  });

  /** A clear refusal by the facilitator; or a doubtful one, after which a chain check saw no use of the payload. */
  function isLie(said: string, since: Payment['history']): boolean {
    if (!WORDS.includes(said)) return false;
    const certainty = certaintyOf(said);
    if (certainty !== 'refused doubtfully') return certainty === 'refused';
    return since.some((one) => one.source === 'chain' && one.said === 'unused');
  }

  async function buyer(): Promise<void> {
    while (sent.length < PAYMENTS || flow.facilitator.calls.settle.length <= FAULT_MODES.modes.length) {
      assert.ok(sent.length < 5 * PAYMENTS, 'few of the signatures reached /settle');
      const draw = random();
      if (draw < 0.05) await redis.flushall();
      else if (draw < 0.15) advanceClock(Math.floor(random() * 8000));
      else if (draw < 0.23) await duringTrouble();
      else if (draw < 0.45) await repeat();
      else if (draw < 0.55 && sessions.length > 0) await enqueueAgain(pick(random, sessions));
      else await payAnew();
    }
  }

  /** Faults follow each other. */
  async function duringTrouble(): Promise<void> {
    if (isFaulty) return await payAnew();
    isFaulty = true;
    const repair = await pick(random, FAULTS)(around, random);
    await payAnew();
    await repair();
    isFaulty = false;
  }

  /** Most sessions end soon. */
  async function openSession(): Promise<string> {
    const expiresAt = new Date(nowMs() + 2000 + Math.floor(random() ** 3 * 600_000));
    const { id } = await buildSession(flow.db, flow.merchant.accountId, { expiresAt });
    sessions.push(id);
    return id;
  }

  async function payAnew(): Promise<void> {
    const isNew = sessions.length < BUYERS || random() < 0.6;
    const sessionId = isNew ? await openSession() : pick(random, sessions);
    // A session that can no longer be paid has no offer to sign.
    const offered = await flow.sign(sessionId).catch(() => undefined);
    if (offered === undefined) return;
    const signed = { ...offered, sessionId };
    sent.push(signed);
    const copies = Array.from({ length: random() < 0.2 ? 2 : 1 });
    await Promise.all(copies.map(() => send(sessionId, signed)));
  }

  /** Sends an earlier signature again, to its own session or to another. */
  async function repeat(): Promise<void> {
    if (sent.length === 0) return;
    const signed = pick(random, sent);
    await send(random() < 0.5 ? signed.sessionId : pick(random, sessions), signed);
  }

  async function send(sessionId: string, { header }: SignedPayment): Promise<void> {
    const { status } = await flow.visit(sessionId, { 'PAYMENT-SIGNATURE': header });
    answers.set(status, (answers.get(status) ?? 0) + 1);
  }

  async function enqueueAgain(sessionId: string): Promise<void> {
    for (const { id } of await Payment.query(flow.db).where({ payableId: sessionId })) {
      const stage = pick(random, ['settle', 'confirm'] as const);
      const dueAt = new Date(nowMs() + Math.floor(random() * 2000));
      await flow.app.queues.enqueue(paymentJob({ id, stage, attempt: Math.floor(random() * 3), dueAt }));
    }
  }
});
