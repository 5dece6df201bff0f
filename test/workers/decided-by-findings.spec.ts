import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Keypair } from '@solana/web3.js';
import { breaksBeforeWork, refuses } from '../../lab/world/facilitator/dial.js';
import { signSolanaPayment } from '../../lab/world/shop/agent.js';
import type { ChainFinding, Finding } from '../../shared/chains/finding.js';
import type { SearchPlace } from '../../shared/chains/search-place.js';
import type { Payment } from '../../shared/payments/model.js';
import {
  advanceClock,
  correctClock,
  now,
  nowMs,
  resetClock,
  unmockedHostMs,
} from '../../shared/process/clock.js';
import { beginLook } from '../../shared/settlement/take-work.js';
import { readStoredPayment } from '../../shared/x402/stored-payment.js';
import { type Hands, type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';
import { entryFor, SOLANA_DEVNET } from '../unit/x402/offers.js';

const MINUTE_MS = 60_000;
/** What a search remembers. */
const PLACE: SearchPlace = { block: '0x10' };

/** The chain's looks are scripted here; what they are made of is held elsewhere. */
describe('a payment with an unclear outcome', () => {
  let flow: MoneyFlow;
  let hands: Hands;
  let say: (payment: Payment) => ChainFinding;
  let places: (SearchPlace | undefined)[];

  before(async () => {
    flow = await openMoneyFlow('decided_by_findings', {
      worker: false,
      environment: { SETTLE_WAIT_MS: '0' },
    });
    hands = flow.openHands();
  });
  beforeEach(() => {
    places = [];
    hands.log.length = 0;
  });
  afterEach(() => {
    resetClock();
    flow.facilitator.verify.honest();
    flow.facilitator.settle.honest();
  });
  after(() => flow.close());

  /** Its one call of /settle was cut, and nobody can say more of it than the chain. */
  async function unclearPayment(validForMs = 5 * MINUTE_MS): Promise<string> {
    const { id } = await flow.buildSession();
    const validBefore = BigInt(Math.floor((nowMs() + validForMs) / 1000));
    assert.equal((await flow.pay(id, { validBefore })).status, 202);
    const payment = await flow.onlyPayment(id);
    flow.facilitator.settle.next(breaksBeforeWork());
    flow.facilitator.verify.always(refuses('unexpected_verify_error'));
    hands.deps.chains = {
      async lookUp({ place }) {
        places.push(place);
        return say(await flow.onlyPayment(id));
      },
      close: () => undefined,
    };
    await hands.doNext(payment.id);
    return id;
  }

  /** Looks for so long, and says what became of it. */
  async function look(id: string, forMs: number): Promise<Payment> {
    const until = nowMs() + forMs;
    for (;;) {
      const payment = await flow.onlyPayment(id);
      const dueMs = payment.dueAt?.getTime() ?? Number.POSITIVE_INFINITY;
      if (payment.stage !== 'confirm' || dueMs > until) return payment;
      await hands.doNext(payment.id);
    }
  }

  const hours = (count: number): number => count * 60 * MINUTE_MS;

  it('is never failed while its authorization is used by what is not known, and somebody is told', async () => {
    say = () => ({ kind: 'used', reason: 'no log says by what' });
    const { status, history } = await look(await unclearPayment(), hours(2));
    assert.equal(status, 'processing');
    assert.equal(history.at(-1)?.said, 'used, by what is not known yet: no log says by what');
    const alarm = hands.log.find(({ event }) => event === 'payment.used_unexplained');
    assert.equal(alarm?.level, 'error');
    const metrics = await hands.deps.metrics.own();
    const count = (series: RegExp): number => Number(series.exec(metrics)?.[1]);
    const told = hands.log.filter(({ event }) => event === 'payment.used_unexplained').length;
    assert.equal(
      count(/^checkout_chain_looks_total\{network="eip155:84532",finding="used".*\} (\d+)$/m),
      places.length,
    );
    assert.equal(count(/^checkout_log_lines_total\{event="payment.used_unexplained".*\} (\d+)$/m), told);
  });

  it('is never failed while a search goes on, which goes on where it stopped', async () => {
    let block = 0;
    say = () => ({ kind: 'searching', reason: 'more to look through', place: { block: ++block } });
    const { status } = await look(await unclearPayment(), 10 * MINUTE_MS);
    assert.equal(status, 'processing');
    assert.deepEqual(places.slice(0, 3), [undefined, { block: 1 }, { block: 2 }]);
    assert.ok(places.length > 300, `only ${places.length} looks`);
  });

  it('whose search does not come further is looked at with pauses, and somebody is told now and then', async () => {
    say = () => ({ kind: 'searching', reason: 'HTTP 429', place: PLACE });
    const { status } = await look(await unclearPayment(), 10 * MINUTE_MS);
    assert.equal(status, 'processing');
    assert.ok(places.length < 40, `${places.length} looks`);
    const alarms = hands.log.filter(({ event }) => event === 'payment.search_unfinished');
    assert.equal(alarms.length, 1);
  });

  it('that has failed is looked for anew, wherever the search had been', async () => {
    const findings: ChainFinding[] = [
      { kind: 'searching', reason: 'more to look through', place: PLACE },
      { kind: 'unused', chainTime: new Date(nowMs() + 3_600_000), exhausted: true },
    ];
    say = () => findings.shift() ?? { kind: 'paid', ...paidNow() };
    const failed = await look(await unclearPayment(), 10 * MINUTE_MS);
    assert.deepEqual([failed.status, failed.stage], ['failed', 'watch']);
    await hands.doNext(failed.id);
    assert.deepEqual(places, [undefined, PLACE, undefined]);
    assert.equal((await flow.onlyPayment(failed.checkoutSessionId)).status, 'succeeded');
  });

  it('is not failed before its end has come by both clocks, ours and the one that we follow', async () => {
    const AHEAD_MS = 3 * MINUTE_MS;
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const id = await unclearPayment();
    const at = unmockedHostMs();
    correctClock(at + AHEAD_MS, { askedAtMs: at, answeredAtMs: at });
    try {
      const { failedAt, validUntil } = await look(id, hours(1));
      const truly = (failedAt?.getTime() ?? 0) - AHEAD_MS;
      assert.ok(truly >= validUntil.getTime() + MINUTE_MS, 'failed before its end');
    } finally {
      correctClock(unmockedHostMs(), { askedAtMs: unmockedHostMs(), answeredAtMs: unmockedHostMs() });
    }
  });

  it('stays used when nothing can be read any more, and is not failed', async () => {
    const findings: ChainFinding[] = [{ kind: 'used', reason: 'no log says by what' }];
    say = () => findings.shift() ?? { kind: 'unreadable', reason: 'HTTP 500' };
    assert.equal((await look(await unclearPayment(), hours(2))).status, 'processing');
  });

  const PASSING: ChainFinding[] = [
    { kind: 'unreadable', reason: 'HTTP 500' },
    { kind: 'pending', transaction: 'seen' },
  ];
  for (const passing of PASSING) {
    it(`keeps the place of its search over a look that is ${passing.kind}`, async () => {
      const findings: ChainFinding[] = [
        { kind: 'used', reason: 'more to look through', place: PLACE },
        passing,
      ];
      say = () => findings.shift() ?? { kind: 'paid', ...paidNow() };
      const { status } = await look(await unclearPayment(), 10 * MINUTE_MS);
      assert.equal(status, 'succeeded');
      assert.deepEqual(places, [undefined, PLACE, PLACE]);
    });
  }

  it('is not failed while the chain stands still before its end, whatever else cannot be read', async () => {
    const halted = now();
    say = () => ({ kind: 'unreadable', reason: 'HTTP 429', chainTime: halted });
    assert.equal((await look(await unclearPayment(), hours(2))).status, 'processing');
  });

  it('is not failed while the newest block of a halted chain says unused', async () => {
    const halted = now();
    say = () => ({ kind: 'unused', chainTime: halted, exhausted: false });
    assert.equal((await look(await unclearPayment(), hours(2))).status, 'processing');
  });

  it('is failed, and watched, a minute after its end when nothing at all can be read', async () => {
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const { status, validUntil, failedAt, stage } = await look(await unclearPayment(), hours(1));
    assert.deepEqual([status, stage], ['failed', 'watch']);
    const afterEndMs = (failedAt?.getTime() ?? 0) - validUntil.getTime();
    assert.ok(afterEndMs >= MINUTE_MS && afterEndMs < 3 * MINUTE_MS, `${afterEndMs} ms after its end`);
  });

  it('is not failed by a silence when a look in it was lost', async () => {
    const silence: ChainFinding = { kind: 'unreadable', reason: 'HTTP 500' };
    say = () => silence;
    const id = await unclearPayment();
    const { id: paymentId, validUntil } = await flow.onlyPayment(id);
    advanceClock(validUntil.getTime() - nowMs());
    await hands.doNext(paymentId);
    // Killed when it had seen the money.
    advanceClock(((await flow.onlyPayment(id)).dueAt?.getTime() ?? 0) - nowMs());
    assert.notEqual((await beginLook(flow.db, paymentId))?.unreadableSince, null);
    await hands.doNext(paymentId);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
    assert.equal((await look(id, 5 * MINUTE_MS)).status, 'failed');
  });

  it('is not failed by two looks between which nobody listened', async () => {
    say = () => ({ kind: 'unreadable', reason: 'HTTP 500' });
    const id = await unclearPayment();
    const { id: paymentId, validUntil } = await flow.onlyPayment(id);
    advanceClock(validUntil.getTime() - nowMs());
    await hands.doNext(paymentId);
    advanceClock(10 * MINUTE_MS);
    await hands.doNext(paymentId);
    assert.equal((await flow.onlyPayment(id)).status, 'processing');
    assert.equal((await look(id, 5 * MINUTE_MS)).status, 'failed');
  });

  it('whose end is far ahead is failed by two looks, with nothing between them', async () => {
    const id = await unclearPayment(hours(12));
    advanceClock(20 * MINUTE_MS);
    const unused = (): ChainFinding => ({ kind: 'unused', chainTime: now(), exhausted: false });
    const unreadable: ChainFinding = { kind: 'unreadable', reason: 'HTTP 500', chainTime: new Date(0) };
    const spells = [unused, () => unreadable, unused, () => unreadable, unused, unused];
    const said: string[] = [];
    say = () => {
      const finding = (spells.shift() ?? unused)();
      said.push(finding.kind);
      return finding;
    };
    assert.equal((await look(id, hours(1))).status, 'failed');
    assert.deepEqual(said, ['unused', 'unreadable', 'unused', 'unreadable', 'unused', 'unused']);
  });

  function paidNow(): Omit<Finding<'paid'>, 'kind'> {
    const transaction = `0x${randomBytes(32).toString('hex')}`;
    const payer = '0x0000000000000000000000000000000000000001';
    return { transaction, proofIndex: 1, payer, confirmations: 1, blockTime: now() };
  }
});

describe('what to look for on the chain', () => {
  it('is known of a Solana token that has left the table', () => {
    const entry = entryFor(SOLANA_DEVNET, 'USDG');
    const payment = {
      id: 'pay_1',
      // As if the whole network had left with it.
      network: 'solana:of-yesterday',
      asset: entry.asset,
      payTo: entry.payTo,
      tokenAmount: entry.amount,
      claimedAt: now(),
      reportedTransaction: null,
      searchPlace: null,
      requirements: entry,
      payload: signSolanaPayment(entry, { payer: Keypair.generate() }),
    };
    const { chainQuery: query } = readStoredPayment(payment);
    assert.deepEqual([query.family, 'tokenProgram' in query && query.tokenProgram], ['svm', 'token-2022']);
  });
});
