import assert from 'node:assert/strict';
import { breaksBeforeWork } from '../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';
import { createLogger } from '../../shared/process/logger.js';
import type { JobOutcome } from '../../workers/deps/job-outcome.js';
import { createHandlers, type Handlers } from '../../workers/process/handlers.js';
import { type OutsideCalls, openOutsideCalls } from '../../workers/settlement/outside-calls.js';
import { BASE_SEPOLIA, X_LAYER_TESTNET } from '../support/checkout.js';
import { forEachTest } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

const SLOTS = 8;
const SLOW_MS = 20;

describe('checks of a network whose endpoint hangs', () => {
  const flow = forEachTest(() =>
    openMoneyFlow('check_slots', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  let chainChecks: OutsideCalls;
  let handlers: Handlers;
  /** The networks that were checked, in this order. */
  let checks: string[];
  let answer: () => void;

  beforeEach(async () => {
    const { deps } = flow.openManualWorker();
    chainChecks = openOutsideCalls('confirm-payment', SLOTS, createLogger('silent', 'test'), SLOW_MS);
    checks = [];
    const hanging = new Promise<void>((resolve) => {
      answer = resolve;
    });
    deps.chains = {
      async check({ network }): Promise<ChainFinding> {
        checks.push(network);
        if (network === X_LAYER_TESTNET) await hanging;
        return { kind: 'unused', chainTime: new Date(nowMs()), exhausted: false };
      },
      close: () => undefined,
    };
    handlers = createHandlers({ ...deps, chainChecks }, undefined as never);
  });
  afterEach(async () => {
    answer();
    await chainChecks.close();
    resetClock();
  });

  /** Pays, loses the answer of `/settle`, and checks when the check is due. */
  async function payAndCheck(network: string): Promise<{ id: string; outcome: JobOutcome }> {
    const { id } = await flow.buildSession();
    assert.equal((await flow.pay(id, { network })).status, 202);
    const { id: paymentId } = await flow.onlyPayment(id);
    flow.facilitator.settle.next(breaksBeforeWork());
    await handlers['settle-payment']({ paymentId });
    const { dueAt } = await flow.onlyPayment(id);
    advanceClock(Math.max(0, (dueAt?.getTime() ?? 0) - nowMs() + 1));
    return { id, outcome: await handlers['confirm-payment']({ paymentId }) };
  }

  it('give their places in the queue back, and leave checks to other networks', async () => {
    let held = 0;
    let refused = await payAndCheck(X_LAYER_TESTNET);
    for (; checks.length > held; held += 1) {
      assert.equal(refused.outcome.kind, 'done', 'the job does not wait for its check');
      refused = await payAndCheck(X_LAYER_TESTNET);
    }
    assert.ok(held >= 2 && held < SLOTS, `${held} checks hang`);
    assert.equal(refused.outcome.kind, 'again', 'it comes back');
    const { status, dueAt } = await flow.onlyPayment(refused.id);
    assert.equal(status, 'processing');
    assert.ok((dueAt?.getTime() ?? 0) <= nowMs() + 20_000);
    assert.equal((await payAndCheck(BASE_SEPOLIA)).outcome.kind, 'again');
    assert.deepEqual(checks.slice(held), [BASE_SEPOLIA]);
  });
});
