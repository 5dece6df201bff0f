import assert from 'node:assert/strict';
import { answerOf } from '../../support/link-answers.js';
import { openMoneyFlow } from '../../support/money-flow.js';

/** Options that hosted services ask for, and that operators set whose tables are in a schema of their own. */
const OPTIONS = ['-c work_mem=8MB', '-c search_path=public'];

describe('a DATABASE_URL with options for its sessions', () => {
  for (const options of OPTIONS)
    it(`leaves the queues in Postgres their own: ${options}`, async () => {
      const flow = await openMoneyFlow(`options_of_url_${OPTIONS.indexOf(options)}`, {
        async around(databaseUrl) {
          const url = new URL(databaseUrl);
          url.searchParams.set('options', options);
          return { DATABASE_URL: url.href, REDIS_URL: '' };
        },
      });
      try {
        await flow.app.queues.check();
        const { id } = await flow.buildSession();
        assert.equal(answerOf(await flow.pay(id)), '200 complete');
      } finally {
        await flow.close();
      }
    });
});
