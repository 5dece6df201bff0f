import assert from 'node:assert/strict';
import { breaksBeforeWork } from '../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { correctClock, nowMs, resetClock, unmockedHostMs } from '../../shared/process/clock.js';
import { forAllTests } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

const MINUTE_MS = 60_000;

describe('a payment whose transaction is not confirmed', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('waiting_for_confirmations', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0' },
    }),
  );
  const worker = forAllTests(() => flow.openManualWorker());
  afterEach(() => {
    resetClock();
    worker.log.length = 0;
  });

  it("is not told to a person when only Postgres' clock has passed its end", async () => {
    const { id } = await flow.buildSession();
    await flow.pay(id);
    const { id: paymentId } = await flow.onlyPayment(id);
    flow.facilitator.settle.next(breaksBeforeWork());
    const findings: ChainFinding[] = [
      { kind: 'unused', chainTime: new Date(nowMs()), exhausted: false },
      { kind: 'used', reason: 'no log is shown' },
    ];
    const check = async (): Promise<ChainFinding> =>
      findings.shift() ?? { kind: 'pending', transaction: '5'.repeat(87) };
    worker.deps.chains = { check, close: () => undefined };
    await worker.doNext(paymentId);
    const at = unmockedHostMs();
    correctClock(at + 60 * MINUTE_MS, { askedAtMs: at, answeredAtMs: at });
    while (findings.length > 0) await worker.doNext(paymentId);
    correctClock(at, { askedAtMs: at, answeredAtMs: at });
    assert.deepEqual(
      worker.log.filter(({ level }) => level === 'error'),
      [],
    );
  });

  it('is told to a person five minutes after its end, and not failed', async () => {
    const { id } = await flow.buildSession();
    await flow.pay(id, { validBefore: BigInt(Math.floor((nowMs() + 5 * MINUTE_MS) / 1000)) });
    const { id: paymentId, validUntil } = await flow.onlyPayment(id);
    flow.facilitator.settle.next(breaksBeforeWork());
    const pending: ChainFinding = { kind: 'pending', transaction: '5'.repeat(87) };
    worker.deps.chains = { check: async () => pending, close: () => undefined };
    const errorsUntil = async (ms: number): Promise<unknown[]> => {
      while (nowMs() < validUntil.getTime() + ms) await worker.doNext(paymentId);
      return worker.log.filter(({ level }) => level === 'error').map(({ event, reason }) => [event, reason]);
    };
    assert.deepEqual(await errorsUntil(4 * MINUTE_MS), []);
    const told = ['payment.chain_unreadable', 'its transaction is not confirmed'];
    assert.deepEqual(await errorsUntil(6 * MINUTE_MS), [told]);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
  });
});

describe('a payment whose chain goes on, while 20 confirmations are set', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('waiting_for_20_confirmations', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0', CONFIRMATIONS_EIP155_84532: '20' },
    }),
  );
  const worker = forAllTests(() => flow.openManualWorker());
  afterEach(() => {
    resetClock();
    worker.log.length = 0;
  });

  const findings: Record<string, { finding: () => ChainFinding; reason: string }> = {
    'has paid': {
      finding: () => ({
        kind: 'paid',
        transaction: '0x1',
        height: 1,
        proofIndex: 0,
        payer: undefined,
        confirmations: 10,
      }),
      reason: 'its transaction has too few confirmations',
    },
    'is unused at its end': {
      finding: () => ({ kind: 'unused', chainTime: new Date(nowMs()), exhausted: false }),
      reason: 'a block, or one that replaces it, can still use its authorization',
    },
  };
  for (const [what, { finding, reason }] of Object.entries(findings))
    it(`and ${what} is told to a person when the blocks take longer than the slowest network's`, async () => {
      const { id } = await flow.buildSession();
      await flow.pay(id, { validBefore: BigInt(Math.floor((nowMs() + 5 * MINUTE_MS) / 1000)) });
      const { id: paymentId, validUntil } = await flow.onlyPayment(id);
      flow.facilitator.settle.next(breaksBeforeWork());
      worker.deps.chains = { check: async () => finding(), close: () => undefined };
      const errorsUntil = async (ms: number): Promise<unknown[]> => {
        while (nowMs() < validUntil.getTime() + ms) await worker.doNext(paymentId);
        return worker.log
          .filter(({ level }) => level === 'error')
          .map(({ event, reason: said }) => [event, said]);
      };
      assert.deepEqual(await errorsUntil(9 * MINUTE_MS), []);
      assert.deepEqual(await errorsUntil(11 * MINUTE_MS), [['payment.chain_unreadable', reason]]);
      assert.equal((await flow.onlyPayment(id)).status, 'processing');
    });
});
