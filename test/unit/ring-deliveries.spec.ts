import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobName } from '../../shared/domain/jobs.js';
import type { JobRequest, Queues } from '../../shared/queues/enqueue.js';
import { deliveryBell } from '../../shared/queues/ring-deliveries.js';

describe('the bell of webhook deliveries', () => {
  it('rings once for an account in a moment, by its last event', async () => {
    const jobs: JobRequest<JobName>[] = [];
    const queues = { enqueue: async (job: JobRequest<JobName>) => void jobs.push(job) } as unknown as Queues;
    const ring = deliveryBell(queues, { warn: () => {} } as never);
    ring({ eventId: 'evt_1', accountIds: ['acct_a'] });
    ring({ eventId: 'evt_2', accountIds: ['acct_a', 'acct_b'] });
    ring({ eventId: 'evt_3', accountIds: [] });
    await nextTurn();
    assert.deepEqual(jobs, [
      { name: 'deliver-webhook', payload: { accountId: 'acct_a' }, id: 'acct_a-evt_2' },
      { name: 'deliver-webhook', payload: { accountId: 'acct_b' }, id: 'acct_b-evt_2' },
    ]);
  });
});
