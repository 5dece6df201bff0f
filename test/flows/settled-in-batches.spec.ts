import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { resetClock } from '../../shared/process/clock.js';
import { createHandlers, type Handlers } from '../../workers/process/handlers.js';
import { told } from '../support/link-answers.js';
import { type MoneyFlow, openMoneyFlow } from '../support/money-flow.js';

const COUNT = 5;

describe('payments that share a job', () => {
  let flow: MoneyFlow;
  let handlers: Handlers;
  before(async () => {
    flow = await openMoneyFlow('settled_together', { environment: { SETTLE_WAIT_MS: '0' }, worker: false });
    // No job of this queue goes through it.
    handlers = createHandlers(flow.openHands().deps, undefined as never);
  });
  after(() => flow.close());
  afterEach(() => {
    resetClock();
    return flow.assertBooks();
  });

  /** Claimed, and nobody at work on them yet. */
  async function claim(): Promise<{ ids: string[]; payments: string[] }> {
    const ids: string[] = [];
    for (let n = 0; n < COUNT; n++) {
      const { id } = await flow.buildSession();
      assert.equal(told(await flow.pay(id)), '202 processing');
      ids.push(id);
    }
    const payments = await Promise.all(ids.map(async (id) => (await flow.onlyPayment(id)).id));
    return { ids, payments };
  }

  async function ringFor([paymentId = '', ...others]: readonly string[], by = handlers): Promise<void> {
    const payload = { paymentId, others: others.map((other) => ({ paymentId: other })) };
    await by['settle-payment'](payload);
  }

  const statuses = async (ids: readonly string[]): Promise<string[]> =>
    await Promise.all(ids.map(async (id) => (await flow.session(id)).status));

  it('are not held up by one whose call hangs', async () => {
    const { ids, payments } = await claim();
    const hold = flow.facilitator.settle.holdNext();
    const job = ringFor(payments);
    await eventually(async () => {
      const open = (await statuses(ids)).filter((status) => status !== 'complete');
      assert.deepEqual(open, ['processing']);
    });
    hold.release();
    await job;
    assert.deepEqual(new Set(await statuses(ids)), new Set(['complete']));
  });

  it('are each paid once when the job is repeated, and runs twice at the same time', async () => {
    const { ids, payments } = await claim();
    await Promise.all([ringFor(payments), ringFor([...payments].reverse()), ringFor(payments)]);
    await ringFor(payments);
    assert.deepEqual(new Set(await statuses(ids)), new Set(['complete']));
  });

  it('are settled though one of them is no payment at all', async () => {
    const { ids, payments } = await claim();
    // Whether Postgres reads such an id, and refuses it, is its plan's affair.
    await ringFor(['not an id\0', ...payments]).catch(() => undefined);
    assert.deepEqual(new Set(await statuses(ids)), new Set(['complete']));
  });

  it('are settled though the work of one of them fails: so does their job, and only then', async () => {
    const { ids, payments } = await claim();
    const { deps } = flow.openHands();
    const { facilitator } = deps;
    let fails = true;
    deps.facilitator = {
      ...facilitator,
      settle: async (...call) => {
        const verdict = await facilitator.settle(...call);
        if (!fails) return verdict;
        fails = false;
        throw new Error('a fault of ours, and the money has moved');
      },
    };
    await assert.rejects(ringFor(payments, createHandlers(deps, undefined as never)), /a fault of ours/);
    const moved = await statuses(ids);
    const [lost = assert.fail(), ...others] = ids.filter((_id, index) => moved[index] !== 'complete');
    assert.deepEqual([(await flow.session(lost)).status, others], ['processing', []]);
    await flow.openHands().doNext((await flow.onlyPayment(lost)).id);
    assert.equal((await flow.session(lost)).status, 'complete');
  });
});
