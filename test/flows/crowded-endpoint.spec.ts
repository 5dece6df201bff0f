import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { breaksAfterWork } from '../../lab/world/facilitator/dial.js';
import { createChains } from '../../shared/chains/confirmation.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { listDuePayments } from '../../shared/settlement/take-work.js';
import { confirmPayment } from '../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../workers/jobs/settle-payment.js';
import { type ManualWorker, type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';

const PAID = 200;
/** As many as a worker has jobs in flight. */
const AT_ONCE = 20;
const CALLS_PER_SECOND = 10;
const MOST_CALLS_EACH = 10;
/** The clock of the service and of the endpoint runs so much faster, and the pauses are so much shorter. */
const HASTE = 10;
const TICK_MS = 50;
const VISIT_EVERY_MS = 1000;

describe(`${PAID} payments whose answers of /settle were lost`, function () {
  this.timeout(180_000);
  let flow: MoneyFlow;
  let worker: ManualWorker;
  let clock: NodeJS.Timeout;

  before(async () => {
    flow = await openMoneyFlow('crowded_endpoint', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0', RATE_LIMIT_LINK_PER_MINUTE: '100000' },
    });
    worker = flow.openManualWorker();
    worker.deps.chains.close();
    worker.deps.chains = createChains(worker.deps.config.rpcUrls, {
      checkTimeoutMs: 10_000 / HASTE,
      comeBack: { afterMs: 1000 / HASTE, everyMs: 50 / HASTE },
      pace: { firstPauseMs: 500 / HASTE, longestPauseMs: 30_000 / HASTE },
    });
    // The endpoint counts seconds by the service's clock.
    Object.assign(flow.chain.endpoint, { callsPerSecond: CALLS_PER_SECOND, nowMs });
    clock = setInterval(() => advanceClock(TICK_MS * (HASTE - 1)), TICK_MS);
  });
  after(async () => {
    clearInterval(clock);
    flow.facilitator.settle.honest();
    await flow.close();
    resetClock();
  });

  async function pay(): Promise<string> {
    const { id } = await flow.buildSession({ expiresAt: new Date(nowMs() + 86_400_000) });
    assert.equal((await flow.pay(id)).status, 202);
    return id;
  }

  /** Does the due work of all payments, as a worker does. */
  async function workUntil(isOver: () => boolean): Promise<void> {
    const running = new Map<string, Promise<unknown>>();
    while (!isOver()) {
      const due = await listDuePayments(flow.db, ['settle', 'confirm'], PAID);
      for (const { id, stage } of due) {
        if (running.has(id) || running.size >= AT_ONCE) continue;
        const handle = stage === 'settle' ? settlePayment : confirmPayment;
        const job = handle(worker.deps, { paymentId: id }).finally(() => running.delete(id));
        running.set(id, job);
      }
      await Promise.race([...running.values(), sleep(TICK_MS)]);
    }
    await Promise.all(running.values());
  }

  it(`complete on an endpoint that answers ${CALLS_PER_SECOND} calls a second, and none of their buyers is told 402`, async () => {
    flow.facilitator.settle.always(breaksAfterWork());
    const open = new Set<string>();
    while (open.size < PAID) {
      for (const id of await Promise.all(Array.from({ length: AT_ONCE }, pay))) open.add(id);
    }
    const working = workUntil(() => open.size === 0);
    const told = new Set<number>();
    while (open.size > 0) {
      for (const id of open) {
        const { status } = await flow.visit(id);
        told.add(status);
        if (status !== 202) open.delete(id);
      }
      await sleep(VISIT_EVERY_MS);
    }
    await working;
    assert.deepEqual([...told].sort(), [200, 202]);
    const { endpoint } = flow.chain;
    const calls = endpoint.unlimited / PAID;
    assert.ok(calls <= MOST_CALLS_EACH, `${calls} calls for each payment`);
    await flow.assertBooks();
  });
});
