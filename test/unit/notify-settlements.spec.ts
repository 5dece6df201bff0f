import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobName } from '../../shared/jobs/jobs.js';
import type { JobRequest, Queues } from '../../shared/queues/enqueue.js';
import { settlementNotifier } from '../../shared/settlement/notify-settlements.js';

const dueAt = new Date();

/** A queue that keeps what it is given, or refuses it. */
function openBell(refuses = false) {
  const jobs: JobRequest<JobName>[] = [];
  const warned: Record<string, unknown>[] = [];
  const queues = {
    async enqueue(job: JobRequest<JobName>) {
      if (refuses) throw new Error('away');
      jobs.push(job);
    },
  } as unknown as Queues;
  const ring = settlementNotifier(queues, {
    warn: (line: Record<string, unknown>) => warned.push(line),
  } as never);
  return { ring, jobs, warned };
}

describe('the bell of claimed payments', () => {
  it('rings once for those of one moment, five at most, each with its request', async () => {
    const { ring, jobs } = openBell();
    for (let n = 1; n <= 7; n++) ring({ paymentId: `pay_${n}`, dueAt, requestId: `req_${n}` });
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

  it('rings alone for one, and anew for the next moment', async () => {
    const { ring, jobs } = openBell();
    ring({ paymentId: 'pay_1', dueAt });
    await nextTurn();
    ring({ paymentId: 'pay_2', dueAt });
    await nextTurn();
    assert.deepEqual(
      jobs.map(({ payload }) => payload),
      [{ paymentId: 'pay_1' }, { paymentId: 'pay_2' }],
    );
  });

  it('leaves what no queue takes to the sweep, and says so', async () => {
    const { ring, warned } = openBell(true);
    ring({ paymentId: 'pay_1', dueAt });
    ring({ paymentId: 'pay_2', dueAt });
    await nextTurn();
    await nextTurn();
    const [line, ...more] = warned.map(({ err: _, ...rest }) => rest);
    assert.deepEqual(line, { event: 'queue.not_rung', payment: 'pay_1', others: 1 });
    assert.deepEqual(more, []);
  });
});
