import assert from 'node:assert/strict';
import { breaksBeforeWork } from '../../lab/world/facilitator/dial.js';
import type { ChainFinding } from '../../shared/chains/check/finding.js';
import { correctClock, nowMs, resetClock, unmockedHostMs } from '../../shared/process/clock.js';
import { forAllTests } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

const MINUTE_MS = 60_000;

describe('a payment whose outcome waits for blocks', () => {
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

  const TOO_FEW = { transaction: '0x1', height: 1, proofIndex: 0, payer: undefined, confirmations: 10 };
  const findings: [
    what: string,
    needed: string,
    find: () => ChainFinding,
    minutes: number,
    reason: string,
  ][] = [
    [
      'is not confirmed',
      '0',
      () => ({ kind: 'pending', transaction: '5'.repeat(87) }),
      5,
      'its transaction is not confirmed',
    ],
    [
      'has too few of 20 confirmations',
      '20',
      () => ({ kind: 'paid', ...TOO_FEW }),
      10,
      'its transaction has too few confirmations',
    ],
    [
      'is unused in the newest block, and not in one with 20 confirmations',
      '20',
      () => ({ kind: 'unused', chainTime: new Date(nowMs()), exhausted: false }),
      10,
      'a block, or one that replaces it, can still use its authorization',
    ],
  ];
  for (const [what, needed, find, minutes, said] of findings)
    it(`is told to a person ${minutes} minutes after its end, and not failed, when it ${what}`, async () => {
      const { deps, doNext, log } = flow.openManualWorker({ CONFIRMATIONS_EIP155_84532: needed });
      const { id } = await flow.buildSession();
      await flow.pay(id, { validBefore: BigInt(Math.floor((nowMs() + 5 * MINUTE_MS) / 1000)) });
      const { id: paymentId, validUntil } = await flow.onlyPayment(id);
      flow.facilitator.settle.next(breaksBeforeWork());
      deps.chains = { check: async () => find(), close: () => undefined };
      const errorsUntil = async (minute: number): Promise<unknown[]> => {
        while (nowMs() < validUntil.getTime() + minute * MINUTE_MS) await doNext(paymentId);
        return log.filter(({ level }) => level === 'error').map(({ event, reason }) => [event, reason]);
      };
      assert.deepEqual(await errorsUntil(minutes - 1), []);
      assert.deepEqual(await errorsUntil(minutes + 1), [['payment.chain_unreadable', said]]);
      assert.equal((await flow.onlyPayment(id)).status, 'processing');
    });
});
