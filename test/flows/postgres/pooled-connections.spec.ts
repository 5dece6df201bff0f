import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { type Pooler, startPgBouncer } from '../../../lab/world/processes/pgbouncer.js';
import { killProcesses } from '../../../lab/world/processes/processes.js';
import { forAllTests } from '../../support/hooks.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import { openWebProcesses, type WebProcesses } from '../../support/web-process.js';

const AT_ONCE = 6;
const MOST_ROUNDS = 100;
const ROUNDS = 5;

type Web = Awaited<ReturnType<WebProcesses['start']>>;

describe('web processes behind a pooler that keeps no prepared statements', () => {
  const processes = forAllTests(() => openWebProcesses('pooled'));
  let pooler: Pooler;
  before(async () => {
    pooler = await startPgBouncer(processes.environment.DATABASE_URL ?? '');
  });
  after(async () => {
    await killProcesses();
    await pooler.stop();
  });

  it('serve every create, and log the problem and its remedy once', async () => {
    const webs = await Promise.all([1, 2].map(() => processes.start({ DATABASE_URL: pooler.url })));
    const createOnBoth = async (): Promise<void> => {
      const answers = await Promise.all(
        webs.flatMap(({ port }) =>
          Array.from({ length: AT_ONCE / 2 }, () =>
            processes.send(port, 'POST', SESSIONS, { body: minimal }),
          ),
        ),
      );
      assert.deepEqual(
        new Set(answers.map(({ status, text }) => (status === 200 ? 200 : text))),
        new Set([200]),
      );
    };
    const warningsOf = (web: Web) =>
      web.lines().filter(({ event }) => event === 'database.statements_not_kept');
    await createOnBoth();
    // A process meets a lost name only where no other connection has prepared it again: it takes some rounds.
    for (let round = 0; round < MOST_ROUNDS && webs.some((web) => warningsOf(web).length === 0); round++) {
      await pooler.loseStatements();
      await createOnBoth();
    }
    await pooler.loseStatements();
    await createOnBoth();
    for (const web of webs) {
      const warnings = warningsOf(web);
      assert.equal(warnings.length, 1, web.output());
      assert.match(String(warnings[0]?.hint), /DATABASE_PREPARED_STATEMENTS=false/);
    }
  });

  it("log nothing with DATABASE_PREPARED_STATEMENTS=false but that the queue's database is behind a pooler, and nothing without one", async () => {
    const configured = { DATABASE_URL: pooler.url, DATABASE_PREPARED_STATEMENTS: 'false' };
    for (const [settings, expected] of [
      [configured, 1],
      [{}, 0],
    ] as const) {
      const web = await processes.start({ ...settings, REDIS_URL: '' });
      // The check of the queue's connection has been answered by then, and statements that were prepared are missed.
      for (let round = 0; round < ROUNDS; round++) {
        const { status } = await processes.send(web.port, 'POST', SESSIONS, { body: minimal });
        assert.equal(status, 200, web.output());
        await pooler.loseStatements();
      }
      const logged = (pattern: RegExp) => web.lines().filter(({ event }) => pattern.test(String(event)));
      await eventually(() => assert.equal(logged(/^config\.pooled_queue$/).length, expected, web.output()));
      assert.deepEqual(logged(/^database\./), []);
    }
  });
});
