import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { type PauseOptions, PausePoint } from '../../../lab/world/processes/pause-points.js';
import {
  killProcesses,
  type ServiceProcess,
  startWebProcess,
  startWorkerProcess,
  type WebServiceProcess,
} from '../../../lab/world/processes/processes.js';
import { paymentJob } from '../../../shared/settlement/payment-job.js';
import { installationNamer } from '../../../shared/upkeep/installation.js';
import { PAID, UNTOUCHED } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';
import { openMoneyFlow } from '../../support/money-flow.js';
import { testServices } from '../../support/suite.js';

/**
 * The points at which a process is killed, one payment each. The test decides whether the statement that Postgres
 * was executing then completes.
 */
const WEB_POINTS = [
  'before the claim is committed',
  "in the claim's commit",
  'while it waits for the outcome',
] as const;
const WORKER_POINTS = [
  'before the durable mark',
  'in the commit of the durable mark',
  'during /settle, which moves the money',
  'during /settle, which moves no money',
  'after the answer, before the outcome is committed',
  "in the outcome's commit",
  'after the outcome is committed',
] as const;
type Point = (typeof WEB_POINTS)[number] | (typeof WORKER_POINTS)[number];

interface PreparedPayment {
  sessionId: string;
  header: string;
  nonce: string;
}

const STORES = [
  { store: 'Redis', redisUrl: () => testServices().redisUrl },
  { store: 'Postgres', redisUrl: () => '' },
];

for (const { store, redisUrl } of STORES) {
  describe(`a process that is killed, with the queue in ${store}`, () => {
    const flow = forAllTests(() =>
      openMoneyFlow(`killed_${store.toLowerCase()}`, {
        worker: false,
        environment: { REDIS_URL: redisUrl(), SETTLE_WAIT_MS: '0' },
      }),
    );
    const environment = () => ({
      ...flow.settings,
      REDIS_URL: redisUrl(),
      FACILITATOR_SETTLE_TIMEOUT_MS: '20000',
    });
    const prepared = new Map<Point, PreparedPayment>();
    const pauses = new Map<Point, PausePoint>();

    after(async () => {
      await killProcesses();
      await PausePoint.removeAll();
    });

    function paymentAt(point: Point): PreparedPayment {
      const found = prepared.get(point);
      assert.ok(found !== undefined, point);
      return found;
    }

    async function prepare(points: readonly Point[]): Promise<void> {
      for (const point of points) {
        const { id } = await flow.buildSession();
        const { header, payload } = await flow.sign(id);
        prepared.set(point, { sessionId: id, header, nonce: payload.authorization.nonce });
      }
    }

    async function pauseAt(point: Point, { when, ...options }: PauseOptions, column = 'payable_id') {
      const where = `NEW.${column} = '${paymentAt(point).sessionId}' AND ${when}`;
      pauses.set(point, await PausePoint.put(flow.databaseUrl, { ...options, when: where }));
    }

    function pauseOf(point: Point): PausePoint {
      const pause = pauses.get(point);
      assert.ok(pause !== undefined, point);
      return pause;
    }

    async function assertPaidOnce(point: Point, settleCalls = 1): Promise<void> {
      const { sessionId, nonce } = paymentAt(point);
      await eventually(async () => {
        assert.deepEqual(await flow.state(sessionId), PAID);
      });
      assert.equal(flow.facilitator.callsOf('settle', nonce).length, settleCalls, 'calls of /settle');
      const moved = flow.facilitator.ledger.filter(({ paymentId }) => paymentId === nonce);
      assert.equal(moved.length, 1, 'movements of money');
      const payment = await flow.onlyPayment(sessionId);
      assert.equal(payment.transaction, moved[0]?.transaction);
    }

    // The claims of a web process have no job yet, or one like any other, so that the store makes no difference.
    if (store === 'Redis')
      describe('the web process', () => {
        let second: WebServiceProcess;

        before(async () => {
          await prepare(WEB_POINTS);
          const insert = { table: 'payments', on: 'INSERT', when: 'true' } as const;
          await pauseAt('before the claim is committed', { ...insert, moment: 'statement' });
          await pauseAt("in the claim's commit", { ...insert, moment: 'commit' });
          const first = await startWebProcess(environment());
          const cutOff: Promise<void>[] = [];
          // Payments follow each other, because simultaneous claims would share a statement and pause together.
          const pay = async (point: Point, arrived: () => Promise<unknown>): Promise<void> => {
            const headers = { 'PAYMENT-SIGNATURE': paymentAt(point).header };
            const paying = fetch(`http://127.0.0.1:${first.port}/c/${paymentAt(point).sessionId}`, {
              headers,
            });
            cutOff.push(assert.rejects(paying));
            await arrived();
          };
          const reach = (point: Point) => pay(point, () => pauseOf(point).reached());
          await reach('before the claim is committed');
          await reach("in the claim's commit");
          await pay('while it waits for the outcome', () =>
            eventually(async () => {
              const { sessionId } = paymentAt('while it waits for the outcome');
              assert.equal((await flow.state(sessionId)).session, 'processing');
            }),
          );

          await first.kill();
          await Promise.all(cutOff);
          await pauseOf('before the claim is committed').terminate();
          for (const pause of pauses.values()) await pause.release();
          [second] = await Promise.all([startWebProcess(environment()), startWorkerProcess(environment())]);
        });
        after(killProcesses);

        const visit = (point: Point, headers: Record<string, string> = {}): Promise<Response> =>
          fetch(`http://127.0.0.1:${second.port}/c/${paymentAt(point).sessionId}`, { headers });

        it('before the claim is committed: the session is open, and the same payload pays', async () => {
          const point = 'before the claim is committed';
          const { sessionId, header } = paymentAt(point);
          assert.deepEqual(await flow.state(sessionId), UNTOUCHED);
          const answer = await visit(point, { 'PAYMENT-SIGNATURE': header });
          assert.equal(answer.status, 200, await answer.text());
          await assertPaidOnce(point);
        });

        it("in the claim's commit: the session is claimed, and the sweep finds the payment without a job", async () => {
          const point = "in the claim's commit";
          await assertPaidOnce(point);
          const answer = await visit(point, { 'PAYMENT-SIGNATURE': paymentAt(point).header });
          assert.equal(answer.status, 409);
          assert.notEqual(answer.headers.get('PAYMENT-RESPONSE'), null, 'the receipt that was lost');
        });

        it('while it waits for the outcome: the worker completes the payment', async () => {
          await assertPaidOnce('while it waits for the outcome');
          assert.equal((await visit('while it waits for the outcome')).status, 200);
        });
      });

    describe('the worker process', () => {
      let killed: ServiceProcess;

      before(async () => {
        await prepare(WORKER_POINTS);
        const update = { table: 'payments', on: 'UPDATE' } as const;
        const marked = `NEW.settle_calls > OLD.settle_calls`;
        const decided = `NEW.status = 'succeeded'`;
        await pauseAt('before the durable mark', { ...update, when: marked, moment: 'statement' });
        await pauseAt('in the commit of the durable mark', { ...update, when: marked, moment: 'commit' });
        const outcome = 'after the answer, before the outcome is committed';
        await pauseAt(outcome, { ...update, when: decided, moment: 'statement' });
        await pauseAt("in the outcome's commit", { ...update, when: decided, moment: 'commit' });
        killed = await startWorkerProcess(environment());
        const { settle } = flow.facilitator;
        const pay = async (point: Point): Promise<void> => {
          const { sessionId, header } = paymentAt(point);
          assert.equal((await flow.visit(sessionId, { 'PAYMENT-SIGNATURE': header })).status, 202);
        };
        for (const point of pauses.keys()) {
          if (!WORKER_POINTS.some((known) => known === point)) continue;
          await pay(point);
          await pauseOf(point).reached();
        }
        const hold = settle.holdNext();
        await pay('after the outcome is committed');
        hold.release();
        await assertPaidOnce('after the outcome is committed');

        const calls = flow.facilitator.calls.settle.length;
        const moves = settle.holdNext();
        await pay('during /settle, which moves the money');
        const moving = await flow.facilitator.waitForCall('settle', calls + 1);
        const movesNothing = settle.holdNext({ works: false, connection: 'drop' });
        await pay('during /settle, which moves no money');
        const idle = await flow.facilitator.waitForCall('settle', calls + 2);

        await killed.kill();
        moves.release();
        movesNothing.release();
        await Promise.all([moving.done, idle.done]);
        await pauseOf('before the durable mark').terminate();
        await pauseOf(outcome).terminate();
        for (const pause of pauses.values()) await pause.release();
        const isActive = await expireLock(paymentAt('before the durable mark').sessionId);
        await startWorkerProcess(environment());
        for (const point of WORKER_POINTS) {
          // The queue hands an active job to another worker when its lock expires.
          if (point !== 'before the durable mark' || !isActive)
            await flow.letTimePass(paymentAt(point).sessionId);
        }
      });
      after(killProcesses);

      for (const point of WORKER_POINTS) {
        const settleCalls = point === 'during /settle, which moves no money' ? 2 : 1;
        it(`killed ${point}: another worker completes the payment, which is paid once`, () =>
          assertPaidOnce(point, settleCalls));
      }

      it('changes nothing when all jobs run again', async () => {
        const settleCalls = flow.facilitator.calls.settle.length;
        for (const point of WORKER_POINTS) {
          const { id } = await flow.onlyPayment(paymentAt(point).sessionId);
          for (const stage of ['settle', 'confirm', 'watch'] as const) {
            await flow.app.queues.enqueue(paymentJob({ id, stage, attempt: 99, dueAt: new Date() }));
          }
        }
        // A payment made later is processed after these jobs.
        const { id } = await flow.buildSession();
        await flow.pay(id);
        await eventually(async () => assert.equal((await flow.state(id)).session, 'complete'));
        assert.equal(flow.facilitator.calls.settle.length, settleCalls + 1);
        await flow.assertBooks();
      });

      /**
       * Removes the lock that a killed worker's job keeps for thirty seconds. False: that job is not in the queue, and the
       * sweep takes the payment.
       */
      async function expireLock(sessionId: string): Promise<boolean> {
        const { id, claimedAt } = await flow.onlyPayment(sessionId);
        const job = paymentJob({ id, stage: 'settle', attempt: 0, dueAt: claimedAt });
        if (redisUrl() === '') {
          const { rowCount } = await flow.db.raw('UPDATE bullmq.job SET locked_until_ms = 1 WHERE id = ?', [
            job.id,
          ]);
          return rowCount === 1;
        }
        const redis = new Redis(redisUrl());
        try {
          const key = `checkout:${await installationNamer(flow.db)()}:settle-payment:${job.id}`;
          await redis.del(`${key}:lock`);
          return (await redis.hget(key, 'ats')) === '1';
        } finally {
          redis.disconnect();
        }
      }
    });
  });
}
