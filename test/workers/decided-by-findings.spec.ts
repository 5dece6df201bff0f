import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { breaksBeforeWork, refuses } from '../../lab/world/facilitator/dial.js';
import type { ChainFinding, Finding } from '../../shared/chains/check/finding.js';
import type { SearchPosition } from '../../shared/chains/check/search-position.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import {
  advanceClock,
  correctClock,
  hostNowMs,
  now,
  nowMs,
  resetClock,
  unmockedHostMs,
} from '../../shared/process/clock.js';
import { beginCheck } from '../../shared/settlement/take-work.js';
import { forAllTests } from '../support/hooks.js';
import { openMoneyFlow } from '../support/money-flow.js';

const MINUTE_MS = 60_000;
/** A search's position, as a payment stores it. */
const POSITION: SearchPosition = { block: '0x10' };

/** The findings are scripted; specs of shared/chains cover how they come about. */
describe('an unclear payment', () => {
  const flow = forAllTests(() =>
    openMoneyFlow('decided_by_findings', { worker: false, environment: { SETTLE_WAIT_MS: '0' } }),
  );
  const manualWorker = forAllTests(() => flow.openManualWorker());
  let say: (payment: Payment) => ChainFinding;
  let positions: (SearchPosition | undefined)[];

  beforeEach(() => {
    positions = [];
    manualWorker.log.length = 0;
  });
  afterEach(() => {
    setPostgresAhead(0);
    resetClock();
    flow.facilitator.verify.honest();
    flow.facilitator.settle.honest();
  });

  /** Pays with a call of /settle that is cut, so that only the chain can tell its outcome. */
  async function payUnclearly(validForMs = 5 * MINUTE_MS, beforeCall = (): void => {}): Promise<string> {
    const { id } = await flow.buildSession();
    const validBefore = BigInt(Math.floor((nowMs() + validForMs) / 1000));
    assert.equal((await flow.pay(id, { validBefore })).status, 202);
    const payment = await flow.onlyPayment(id);
    flow.facilitator.settle.next(breaksBeforeWork());
    flow.facilitator.verify.always(refuses('unexpected_verify_error'));
    manualWorker.deps.chains = {
      async check({ position }) {
        positions.push(position);
        return say(await flow.onlyPayment(id));
      },
      close: () => undefined,
    };
    beforeCall();
    await manualWorker.doNext(payment.id);
    return id;
  }

  /** Checks the chain for this long, and returns the payment. */
  async function check(id: string, forMs: number): Promise<Payment> {
    const until = nowMs() + forMs;
    for (;;) {
      const payment = await flow.onlyPayment(id);
      const dueMs = payment.dueAt?.getTime() ?? Number.POSITIVE_INFINITY;
      if (payment.stage !== 'confirm' || dueMs > until) return payment;
      await manualWorker.doNext(payment.id);
    }
  }

  /**
   * Checks the chain until long after its end, and again a day later; between them no check ran, or nothing could be read.
   */
  async function checkForADay(id: string, between: 'no check' | 'silence'): Promise<string> {
    await check(id, 20 * MINUTE_MS);
    if (between === 'silence') await silentForADay(id);
    else advanceClock(hours(25));
    return (await check(id, 2 * MINUTE_MS)).status;
  }

  /** Dates the silence back: nothing could be read for a day and `moreMs`. */
  async function silentForADay(id: string, moreMs = 0): Promise<void> {
    const unreadableSince = new Date(nowMs() - hours(24) - moreMs);
    await Payment.query(flow.db).patch({ unreadableSince }).where({ payableId: id });
  }

  const hours = (count: number): number => count * 60 * MINUTE_MS;

  function setPostgresAhead(ms: number): void {
    const at = unmockedHostMs();
    correctClock(at + ms, { askedAtMs: at, answeredAtMs: at });
  }

  it('is never failed while its authorization counts as used by an unknown transaction, and logs an error', async () => {
    say = () => ({ kind: 'used', reason: 'no log says by what' });
    const id = await payUnclearly();
    assert.equal(await checkForADay(id, 'no check'), 'processing');
    const { history } = await flow.onlyPayment(id);
    assert.equal(history.at(-1)?.said, 'used, by what is not known yet: no log says by what');
    const alarm = manualWorker.log.find(({ event }) => event === 'payment.used_unexplained');
    assert.equal(alarm?.level, 'error');
    const metrics = await manualWorker.deps.metrics.own();
    const count = (series: RegExp): number => Number(series.exec(metrics)?.[1]);
    const warnings = manualWorker.log.filter(({ event }) => event === 'payment.used_unexplained').length;
    assert.equal(
      count(/^checkout_chain_looks_total\{network="eip155:84532",finding="used".*\} (\d+)$/m),
      positions.length,
    );
    assert.equal(count(/^checkout_log_lines_total\{event="payment.used_unexplained".*\} (\d+)$/m), warnings);
  });

  it('is never failed while a search goes on, and each check continues the search', async () => {
    let block = 0;
    say = () => ({ kind: 'searching', reason: 'more to search', position: { block: ++block } });
    const id = await payUnclearly(MINUTE_MS);
    await check(id, 2 * MINUTE_MS);
    assert.ok(positions.length > 60, `only ${positions.length} checks`);
    advanceClock(hours(25));
    assert.equal((await check(id, 10_000)).status, 'processing');
    assert.deepEqual(positions.slice(0, 3), [undefined, { block: 1 }, { block: 2 }]);
  });

  it('whose search makes no progress is repeated with pauses, and logs an error now and then', async () => {
    say = () => ({ kind: 'searching', reason: 'HTTP 429', position: POSITION });
    assert.equal((await check(await payUnclearly(), 10 * MINUTE_MS)).status, 'processing');
    assert.ok(positions.length < 40, `${positions.length} checks`);
    const alarms = manualWorker.log.filter(({ event }) => event === 'payment.search_unfinished');
    assert.equal(alarms.length, 1);
  });

  it('whose check got no turn at the endpoint is checked again when the endpoint has one', async () => {
    say = () => ({ kind: 'unreadable', reason: 'waiting for a turn at the endpoint', againInMs: 1500 });
    const id = await payUnclearly();
    await check(id, MINUTE_MS);
    const { dueAt, status } = await flow.onlyPayment(id);
    assert.equal(status, 'processing');
    assert.ok((dueAt?.getTime() ?? 0) <= nowMs() + 2000);
    assert.ok(positions.length > 20, `${positions.length} checks in a minute`);
  });

  it('that has failed is searched for from the start', async () => {
    const findings: ChainFinding[] = [
      { kind: 'searching', reason: 'more to search', position: POSITION },
      { kind: 'unused', chainTime: new Date(nowMs() + 3_600_000), exhausted: true },
    ];
    say = () => findings.shift() ?? { kind: 'paid', ...paidNow() };
    const failed = await check(await payUnclearly(), 10 * MINUTE_MS);
    assert.deepEqual([failed.status, failed.stage], ['failed', 'watch']);
    await manualWorker.doNext(failed.id);
    assert.deepEqual(positions, [undefined, POSITION, undefined]);
    assert.equal((await flow.onlyPayment(failed.payableId)).status, 'succeeded');
  });

  it("is not failed before its end has come by the database's clock and by the machine's", async () => {
    const AHEAD_MS = 3 * MINUTE_MS;
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const id = await payUnclearly();
    setPostgresAhead(AHEAD_MS);
    // The day of silence began long before.
    await check(id, MINUTE_MS);
    await silentForADay(id);
    const { failedAt, failureCode, validUntil } = await check(id, hours(1));
    assert.equal(failureCode, 'outcome_unknown');
    const failedAtMs = (failedAt?.getTime() ?? 0) - AHEAD_MS;
    assert.ok(failedAtMs >= validUntil.getTime(), 'failed before its end');
  });

  it("is decided within minutes when Postgres' clock was an hour ahead during its call, and never before the call is over", async () => {
    const at = unmockedHostMs();
    const id = await payUnclearly(5 * MINUTE_MS, () => setPostgresAhead(hours(1)));
    setPostgresAhead(0);
    await Payment.query(flow.db).patch({ dueAt: now() }).where({ payableId: id });
    say = () => ({ kind: 'unused', chainTime: now(), exhausted: true });
    assert.equal((await check(id, MINUTE_MS / 2)).status, 'processing');
    const { status, failedAt } = await check(id, 5 * MINUTE_MS);
    assert.equal(status, 'failed');
    assert.ok((failedAt?.getTime() ?? 0) >= at + MINUTE_MS, 'the call may run for 30 s, and 30 s more');
  });

  it("that fails leaves its session open until its end has come by the database's clock and by the machine's", async () => {
    const id = await payUnclearly();
    say = () => ({ kind: 'unused', chainTime: new Date(nowMs() + hours(1)), exhausted: true });
    setPostgresAhead(hours(1));
    const expiresAt = new Date(hostNowMs() + 30 * MINUTE_MS);
    await Payable.query(flow.db).patch({ expiresAt }).where({ id });
    assert.equal((await check(id, MINUTE_MS)).status, 'failed');
    assert.equal((await flow.session(id)).status, 'open');
  });

  it('stays used when the chain can no longer be read, and is not failed', async () => {
    const findings: ChainFinding[] = [{ kind: 'used', reason: 'no log says by what' }];
    say = () => findings.shift() ?? { kind: 'unreadable', reason: 'HTTP 500' };
    assert.equal(await checkForADay(await payUnclearly(), 'silence'), 'processing');
  });

  const PASSING: ChainFinding[] = [
    { kind: 'unreadable', reason: 'HTTP 500' },
    { kind: 'pending', transaction: 'seen' },
  ];
  for (const passing of PASSING) {
    it(`keeps the position of its search over a check with the finding ${passing.kind}`, async () => {
      const findings: ChainFinding[] = [
        { kind: 'used', reason: 'more to search', position: POSITION },
        passing,
      ];
      say = () => findings.shift() ?? { kind: 'paid', ...paidNow() };
      const { status } = await check(await payUnclearly(), 10 * MINUTE_MS);
      assert.equal(status, 'succeeded');
      assert.deepEqual(positions, [undefined, POSITION, POSITION]);
    });
  }

  it('is not failed while the chain has no block after its end, whatever else cannot be read', async () => {
    const halted = now();
    say = () => ({ kind: 'unreadable', reason: 'HTTP 429', chainTime: halted });
    assert.equal(await checkForADay(await payUnclearly(), 'silence'), 'processing');
  });

  it('is not failed while the newest block of a halted chain says unused', async () => {
    const halted = now();
    say = () => ({ kind: 'unused', chainTime: halted, exhausted: false });
    assert.equal(await checkForADay(await payUnclearly(), 'no check'), 'processing');
  });

  it('is not failed for a day in which nothing can be read, and then as one whose outcome nobody knows', async () => {
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const id = await payUnclearly();
    const { status, unreadableSince } = await check(id, 10 * MINUTE_MS);
    assert.equal(status, 'processing');
    assert.ok(unreadableSince !== null);
    await silentForADay(id, -MINUTE_MS);
    assert.equal((await check(id, 31_000)).status, 'processing');
    await silentForADay(id);
    const failed = await check(id, MINUTE_MS);
    assert.deepEqual(
      [failed.status, failed.stage, failed.failureCode],
      ['failed', 'watch', 'outcome_unknown'],
    );
  });

  it('is not failed by checks that cannot read the chain when one between them was lost', async () => {
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const id = await payUnclearly();
    const { id: paymentId, validUntil } = await flow.onlyPayment(id);
    advanceClock(validUntil.getTime() - nowMs());
    await manualWorker.doNext(paymentId);
    await silentForADay(id);
    // The worker was killed after it had seen the transfer.
    advanceClock(((await flow.onlyPayment(id)).dueAt?.getTime() ?? 0) - nowMs());
    const seen = await beginCheck(flow.db, { id: paymentId, settleTimeoutMs: 30_000 });
    assert.notEqual(seen?.unreadableSince, null);
    await manualWorker.doNext(paymentId);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
    await silentForADay(id);
    assert.equal((await check(id, 5 * MINUTE_MS)).status, 'failed');
  });

  it('is not failed by two checks that cannot read the chain, ten minutes apart', async () => {
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const id = await payUnclearly();
    const { id: paymentId, validUntil } = await flow.onlyPayment(id);
    advanceClock(validUntil.getTime() - nowMs());
    await manualWorker.doNext(paymentId);
    await silentForADay(id);
    advanceClock(10 * MINUTE_MS);
    await manualWorker.doNext(paymentId);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
    await silentForADay(id);
    assert.equal((await check(id, 5 * MINUTE_MS)).status, 'failed');
  });

  it('whose end is far ahead is failed by two checks in a row that find it unused', async () => {
    const id = await payUnclearly(hours(12));
    advanceClock(20 * MINUTE_MS);
    const unused = (): ChainFinding => ({ kind: 'unused', chainTime: now(), exhausted: false });
    const unreadable: ChainFinding = { kind: 'unreadable', reason: 'HTTP 500', chainTime: new Date(0) };
    const findings = [unused, () => unreadable, unused, () => unreadable, unused, unused];
    const seen: string[] = [];
    say = () => {
      const finding = (findings.shift() ?? unused)();
      seen.push(finding.kind);
      return finding;
    };
    assert.equal((await check(id, hours(1))).status, 'failed');
    assert.deepEqual(seen, ['unused', 'unreadable', 'unused', 'unreadable', 'unused', 'unused']);
  });

  function paidNow(): Omit<Finding<'paid'>, 'kind'> {
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    const payer = '0x0000000000000000000000000000000000000001';
    return { transaction, height: 1, proofIndex: 1, payer, confirmations: 1 };
  }
});
