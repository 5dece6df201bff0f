import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobName } from '../../shared/jobs/jobs.js';
import type { JobRequest, Queues } from '../../shared/queues/enqueue.js';
import { deliveryNotifier } from '../../shared/queues/notify-deliveries.js';

describe('the bell of webhook deliveries', () => {
  let jobs: JobRequest<JobName>[];
  const queues = { enqueue: async (job: JobRequest<JobName>) => void jobs.push(job) } as unknown as Queues;
  const logger = { warn: () => {} } as never;
  beforeEach(() => {
    jobs = [];
  });

  it('rings once for an account in a moment, by its last event', async () => {
    const ring = deliveryNotifier(queues, logger);
    ring({ eventId: 'evt_1', accountIds: ['acct_a'] });
    ring({ eventId: 'evt_2', accountIds: ['acct_a', 'acct_b'] });
    ring({ eventId: 'evt_3', accountIds: [] });
    await nextTurn();
    assert.deepEqual(jobs, [
      { name: 'deliver-webhook', payload: { accountId: 'acct_a' }, id: 'acct_a-evt_2' },
      { name: 'deliver-webhook', payload: { accountId: 'acct_b' }, id: 'acct_b-evt_2' },
    ]);
  });

  it('rings for nobody whom the process that made it due takes itself, and asks that once in a moment', async () => {
    const asked: string[] = [];
    const takeHere = (accountId: string): boolean => {
      asked.push(accountId);
      return accountId === 'acct_a';
    };
    const ring = deliveryNotifier(queues, logger, takeHere);
    ring({ eventId: 'evt_1', accountIds: ['acct_a'] });
    ring({ eventId: 'evt_2', accountIds: ['acct_a', 'acct_b'] });
    await nextTurn();
    assert.deepEqual(asked, ['acct_a', 'acct_b']);
    assert.deepEqual(
      jobs.map(({ payload }) => payload),
      [{ accountId: 'acct_b' }],
    );
  });
});
