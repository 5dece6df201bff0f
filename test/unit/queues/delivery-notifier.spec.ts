import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobName } from '../../../shared/jobs/jobs.js';
import { deliveryNotifier } from '../../../shared/queues/delivery-notifier.js';
import type { JobRequest, Queues } from '../../../shared/queues/enqueue.js';

describe('the notification of webhook deliveries', () => {
  let jobs: JobRequest<JobName>[];
  const queues = { enqueue: async (job: JobRequest<JobName>) => void jobs.push(job) } as unknown as Queues;
  const logger = { warn: () => {} } as never;
  beforeEach(() => {
    jobs = [];
  });

  it('is sent once per account and moment, with its last event', async () => {
    const notify = deliveryNotifier(queues, logger);
    notify({ eventId: 'evt_1', accountIds: ['acct_a'] });
    notify({ eventId: 'evt_2', accountIds: ['acct_a', 'acct_b'] });
    notify({ eventId: 'evt_3', accountIds: [] });
    await nextTurn();
    assert.deepEqual(jobs, [
      { name: 'deliver-webhook', payload: { accountId: 'acct_a' }, id: 'acct_a-evt_2' },
      { name: 'deliver-webhook', payload: { accountId: 'acct_b' }, id: 'acct_b-evt_2' },
    ]);
  });

  it('is not sent for accounts whose deliveries this process takes itself, which is asked once per moment', async () => {
    const asked: string[] = [];
    const deliverHere = (accountId: string): boolean => {
      asked.push(accountId);
      return accountId === 'acct_a';
    };
    const notify = deliveryNotifier(queues, logger, deliverHere);
    notify({ eventId: 'evt_1', accountIds: ['acct_a'] });
    notify({ eventId: 'evt_2', accountIds: ['acct_a', 'acct_b'] });
    await nextTurn();
    assert.deepEqual(asked, ['acct_a', 'acct_b']);
    assert.deepEqual(
      jobs.map(({ payload }) => payload),
      [{ accountId: 'acct_b' }],
    );
  });
});
