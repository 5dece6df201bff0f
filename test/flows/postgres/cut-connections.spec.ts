import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { PausePoint } from '../../../lab/world/processes/pause-points.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import type { Knex } from '../../../shared/db/knex.js';
import { Payment } from '../../../shared/payments/model.js';
import { resetClock } from '../../../shared/process/clock.js';
import { ClaimNotMade, claimPayable, type NewPayment } from '../../../shared/settlement/claim.js';
import type { SignedPayment } from '../../support/checkout.js';
import { answerOf } from '../../support/link-answers.js';
import { EVENT_DEPS, type MoneyFlow, openMoneyFlow } from '../../support/money-flow.js';

const HEADER = 'PAYMENT-SIGNATURE';

describe('a claim whose COMMIT is not answered', () => {
  let flow: MoneyFlow;
  let proxy: TcpProxy;
  let pause: PausePoint;
  before(async () => {
    flow = await openMoneyFlow('lost_commit', {
      worker: false,
      async around(databaseUrl) {
        proxy = await TcpProxy.start(databaseUrl);
        return { DATABASE_URL: proxy.url };
      },
    });
    await flow.startWorker({ DATABASE_URL: flow.databaseUrl });
  });
  beforeEach(() => flow.startNewBooks());
  afterEach(() => PausePoint.removeAll());
  after(async () => {
    await flow.close();
    await proxy.refuse();
  });

  /** Pays until the claim waits in its COMMIT. */
  async function claim(): Promise<{ sessionId: string; signed: SignedPayment; answer: Promise<string> }> {
    const { id: sessionId } = await flow.buildSession();
    const signed = await flow.sign(sessionId);
    const when = `NEW.payable_id = '${sessionId}' AND NEW.status = 'processing'`;
    pause = await PausePoint.put(flow.databaseUrl, {
      table: 'payments',
      on: 'INSERT',
      when,
      moment: 'commit',
    });
    const answer = flow.visit(sessionId, { [HEADER]: signed.header }).then(answerOf);
    await pause.reached();
    return { sessionId, signed, answer };
  }

  const stateOf = async (sessionId: string): Promise<unknown[]> => {
    const { status, paymentId } = await CheckoutSession.query(flow.db).findById(sessionId).throwIfNotFound();
    return [status, paymentId];
  };

  it('and was rolled back: 503, the session is open, and the same payload pays', async () => {
    const { sessionId, signed, answer } = await claim();
    proxy.cut();
    await pause.terminate();
    assert.equal(await answer, '503 payment_service_unavailable');
    assert.deepEqual(await stateOf(sessionId), ['open', null]);
    await pause.release();
    assert.equal(answerOf(await flow.visit(sessionId, { [HEADER]: signed.header })), '200 complete');
    assert.deepEqual(flow.calls(signed), { verify: 2, settle: 1 });
    await flow.assertBooks();
  });

  it('and was committed: the payment completes', async () => {
    const { signed, answer } = await claim();
    proxy.cut();
    await pause.release();
    assert.equal(await answer, '200 complete');
    assert.deepEqual(flow.calls(signed), { verify: 1, settle: 1 });
    await flow.assertBooks();
  });

  it('and whose row cannot be read: 202, and the payment completes', async () => {
    const { sessionId, answer } = await claim();
    await proxy.refuse();
    assert.equal(await answer, '202 processing');
    await pause.release();
    await eventually(async () => assert.equal((await stateOf(sessionId))[0], 'complete'));
    await proxy.accept();
    assert.equal(answerOf(await flow.visit(sessionId)), '200 complete');
    await flow.assertBooks();
  });

  it('and was rolled back, while its row cannot be read: 202, and the session stays open', async () => {
    const { sessionId, answer } = await claim();
    await proxy.refuse();
    assert.equal(await answer, '202 processing');
    await pause.terminate();
    await proxy.accept();
    assert.equal(answerOf(await flow.visit(sessionId)), '402');
    await flow.assertBooks();
  });
});

describe('a call of /settle', () => {
  let flow: MoneyFlow;
  let proxy: TcpProxy;
  before(async () => {
    flow = await openMoneyFlow('one_call', { worker: false });
    proxy = await TcpProxy.start(flow.facilitator.url);
  });
  beforeEach(() => flow.startNewBooks());
  afterEach(() => PausePoint.removeAll());
  after(async () => {
    await proxy.refuse();
    await flow.close();
    resetClock();
  });

  it('whose connection breaks is not repeated while the facilitator may still be processing it', async () => {
    const manualWorker = flow.openManualWorker({
      FACILITATOR_URL: proxy.url,
      FACILITATOR_SETTLE_TIMEOUT_MS: '20000',
    });
    const { id } = await flow.buildSession();
    const signed = await flow.sign(id);
    const answer = flow.visit(id, { [HEADER]: signed.header }).then(answerOf);
    const payment = await eventually(() => flow.onlyPayment(id));
    // The worker reaches the same facilitator at the proxy's address: null is the worker's first.
    await Payment.query(flow.db).findById(payment.id).patch({ facilitator: null });
    const hold = flow.facilitator.settle.holdNext();
    const settling = manualWorker.doNext(payment.id);
    await eventually(() => assert.equal(flow.calls(signed).settle, 1));
    proxy.cut();
    await settling;

    const { settleAskedAt } = await flow.onlyPayment(id);
    // The call has certainly ended after its timeout (20 s) and 30 s more.
    const hasEndedMs = (settleAskedAt?.getTime() ?? 0) + 50_000;
    for (let due = await nextDue(flow); due !== undefined && due.dueAt.getTime() < hasEndedMs; ) {
      await manualWorker.doNext(payment.id);
      due = await nextDue(flow);
    }
    assert.equal(flow.calls(signed).settle, 1, 'two calls for one payload were in flight');
    hold.release();
    await eventually(() => assert.equal(flow.facilitator.ledger.length, 1));
    await manualWorker.doNext(payment.id);
    assert.equal(answerOf(await flow.visit(id)), '200 complete');
    await answer;
    await flow.assertBooks();
  });

  it('that succeeded completes the session although a connection to Postgres broke and no chain can be read', async () => {
    const manualWorker = flow.openManualWorker({ RPC_URL_EIP155_84532: 'http://127.0.0.1:1' });
    const { id } = await flow.buildSession();
    const pause = await PausePoint.put(flow.databaseUrl, {
      table: 'payments',
      on: 'UPDATE',
      when: `NEW.payable_id = '${id}' AND NEW.status = 'succeeded'`,
      moment: 'statement',
    });
    const answer = flow.pay(id).then(answerOf);
    const payment = await eventually(() => flow.onlyPayment(id));
    const settling = manualWorker.doNext(payment.id).catch(() => undefined);
    await pause.reached();
    await pause.terminate();
    await pause.release();
    await settling;
    for (let steps = 0; steps < 40 && (await flow.session(id)).status === 'processing'; steps += 1) {
      await manualWorker.doNext(payment.id);
    }
    await answer;
    assert.equal((await flow.session(id)).status, 'complete', 'the facilitator had said that it was paid');
    await flow.assertBooks();
  });
});

describe('a connection error', () => {
  it('whose code has five letters, like EPIPE, is not read as an SQLSTATE of Postgres', async () => {
    const broken = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write' });
    const db = {
      client: { acquireConnection: () => Promise.reject(broken) },
      transaction: () => Promise.reject(broken),
    } as unknown as Knex;
    const payment = { payableId: 'cs_none' } as NewPayment;
    await claimPayable(db, payment, EVENT_DEPS).then(
      (claim) => assert.equal(claim.kind, 'unclear'),
      (error) =>
        assert.ok(error instanceof ClaimNotMade, `the error was read as a refusal by Postgres: ${error}`),
    );
  });
});

async function nextDue({ db }: MoneyFlow): Promise<{ id: string; stage: string; dueAt: Date } | undefined> {
  const due = await Payment.query(db).whereNotNull('dueAt').orderBy('dueAt').first();
  if (due?.dueAt === undefined || due.dueAt === null) return undefined;
  return { id: due.id, stage: due.stage ?? '', dueAt: due.dueAt };
}
