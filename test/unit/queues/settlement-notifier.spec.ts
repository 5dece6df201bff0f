import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobName } from '../../../shared/jobs/jobs.js';
import type { JobRequest, Queues } from '../../../shared/queues/enqueue.js';
import { settlementNotifier } from '../../../shared/settlement/settlement-notifier.js';

const dueAt = new Date();

/** A queue that records its jobs, or refuses them. */
function openNotifier(refuses = false) {
  const jobs: JobRequest<JobName>[] = [];
  const warned: Record<string, unknown>[] = [];
  const queues = {
    async enqueue(job: JobRequest<JobName>) {
      if (refuses) throw new Error('unavailable');
      jobs.push(job);
    },
  } as unknown as Queues;
  const notify = settlementNotifier(queues, {
    warn: (line: Record<string, unknown>) => warned.push(line),
  } as never);
  return { notify, jobs, warned };
}

describe('the notification of claimed payments', () => {
  it('is sent once for the payments of one moment, at most five, each with its request', async () => {
    const { notify, jobs } = openNotifier();
    for (let n = 1; n <= 7; n++) notify({ paymentId: `pay_${n}`, dueAt, requestId: `req_${n}` });
    await nextTurn();
    const claimed = (n: number): object => ({ paymentId: `pay_${n}`, requestId: `req_${n}` });
    assert.deepEqual(
      jobs.map(({ name, payload }) => [name, payload]),
      [
        ['settle-payment', { ...claimed(1), others: [2, 3, 4, 5].map(claimed) }],
        ['settle-payment', { ...claimed(6), others: [claimed(7)] }],
      ],
    );
    assert.deepEqual(
      jobs.map(({ id }) => id),
      ['pay_1', 'pay_6'].map((id) => `${id}-0-${dueAt.getTime()}`),
    );
  });

  it('is sent separately for a single payment, and again for the next moment', async () => {
    const { notify, jobs } = openNotifier();
    notify({ paymentId: 'pay_1', dueAt });
    await nextTurn();
    notify({ paymentId: 'pay_2', dueAt });
    await nextTurn();
    assert.deepEqual(
      jobs.map(({ payload }) => payload),
      [{ paymentId: 'pay_1' }, { paymentId: 'pay_2' }],
    );
  });

  it('is left to the sweep when the queue refuses it, and the refusal is logged', async () => {
    const { notify, warned } = openNotifier(true);
    notify({ paymentId: 'pay_1', dueAt });
    notify({ paymentId: 'pay_2', dueAt });
    await nextTurn();
    await nextTurn();
    const [line, ...more] = warned.map(({ err: _, ...rest }) => rest);
    assert.deepEqual(line, { event: 'queue.job_not_added', payment: 'pay_1', others: 1 });
    assert.deepEqual(more, []);
  });
});
