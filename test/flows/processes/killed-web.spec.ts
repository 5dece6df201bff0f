import assert from 'node:assert/strict';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { killProcesses } from '../../../lab/world/processes/processes.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { IdempotencyRecord } from '../../../shared/accounts/model.js';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { forAllTests, forEachTest } from '../../support/hooks.js';
import { minimal, SESSIONS } from '../../support/orders.js';
import {
  type Answer,
  BROKEN,
  counts,
  newKey,
  openWebProcesses,
  untilGone,
} from '../../support/web-process.js';

describe('a web process', () => {
  const processes = forAllTests(() => openWebProcesses('killed_web'));
  const web = forEachTest(() => processes.start());
  /** The process that gets the retries. */
  const next = forAllTests(() => processes.start());
  after(killProcesses);

  describe('killed during a create, a webhook create and an expire', () => {
    it('between commit and answer: the retries get the lost answers byte for byte', async () => {
      const effects = await processes.prepareEffects();
      const proxy = await TcpProxy.start(`http://127.0.0.1:${web.port}`);
      const answers = proxy.swallow({ ways: ['down'] });
      try {
        const broken = Promise.all(
          effects.map((effect) => assert.rejects(processes.post(proxy.port, effect), BROKEN)),
        );
        await eventually(() => assert.equal(answers.dropped().length, effects.length));
        web.child.kill('SIGKILL');
        await broken;
        await web.exited;
        const lost = answers.dropped().map((answer) => {
          const [head = '', body] = answer.split('\r\n\r\n');
          assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
          return body;
        });
        assert.deepEqual(await counts(effects), [1, 1, 1]);
        const retries = await Promise.all(effects.map((effect) => processes.post(next.port, effect)));
        assert.deepEqual(retries.map(({ text: body }) => body).sort(), lost.sort());
        for (const { status, headers } of retries) {
          assert.deepEqual([status, headers['idempotent-replayed']], [200, 'true']);
        }
        assert.deepEqual(await counts(effects), [1, 1, 1]);
      } finally {
        await proxy.refuse();
      }
    });

    it('before the commits, which are rolled back: the retries carry the requests out', async () => {
      const effects = await processes.prepareEffects();
      const commits = await processes.holdCommits();
      try {
        const lost = Promise.all(
          effects.map((effect) => assert.rejects(processes.post(web.port, effect), BROKEN)),
        );
        const waiting = await commits.waiting(effects.length);
        await web.kill();
        assert.deepEqual(await web.exited, { code: null, signal: 'SIGKILL' });
        await lost;
        for (const pid of waiting) await processes.db.raw('SELECT pg_terminate_backend(?)', [pid]);
        await untilGone(processes.db, waiting);
      } finally {
        await commits.release();
      }
      assert.deepEqual(await counts(effects), [0, 0, 0]);
      const kept = IdempotencyRecord.query(processes.db).whereIn(
        'key',
        effects.map(({ key }) => key),
      );
      assert.equal(await kept.resultSize(), 0);
      for (const effect of effects) {
        const first = await processes.post(next.port, effect);
        assert.equal(first.status, 200, first.text);
        assert.equal(first.headers['idempotent-replayed'], undefined);
        assert.equal((await processes.post(next.port, effect)).text, first.text);
      }
      assert.deepEqual(await counts(effects), [1, 1, 1]);
    });

    it('during the commits: the retries wait for them and get replays', async () => {
      const effects = await processes.prepareEffects();
      const commits = await processes.holdCommits();
      let retries: Promise<Answer[]>;
      try {
        const lost = Promise.all(
          effects.map((effect) => assert.rejects(processes.post(web.port, effect), BROKEN)),
        );
        const waiting = await commits.waiting(effects.length);
        await web.kill();
        assert.deepEqual(await web.exited, { code: null, signal: 'SIGKILL' });
        await lost;
        retries = Promise.all(effects.map((effect) => processes.post(next.port, effect)));
        await eventually(async () => {
          const { rows } = await processes.db.raw(
            'SELECT 1 FROM pg_stat_activity WHERE pg_blocking_pids(pid) && ?::integer[]',
            [waiting],
          );
          assert.equal(rows.length, effects.length, 'the retries do not wait yet');
        });
        assert.deepEqual(await counts(effects), [0, 0, 0]);
      } finally {
        await commits.release();
      }
      for (const { status, headers, text: body } of await retries) {
        assert.deepEqual([status, headers['idempotent-replayed']], [200, 'true'], body);
      }
      assert.deepEqual(await counts(effects), [1, 1, 1]);
    });
  });

  it('killed during 40 creates: after the retries there is one session for each key', async () => {
    const reference = `many-${Math.random()}`;
    const body = { ...minimal, client_reference_id: reference };
    const mine = Array.from({ length: 40 }, newKey);
    const first = new Map<string, string>();
    await Promise.allSettled(
      mine.map(async (key) => {
        const answer = await processes.send(web.port, 'POST', SESSIONS, { body, key });
        first.set(key, answer.text);
        // Kills the process while the other creates are in flight.
        if (first.size === 10) web.child.kill('SIGKILL');
      }),
    );
    await web.exited;
    assert.ok(first.size >= 10 && first.size <= mine.length);
    const ids = new Set<string>();
    for (const key of mine) {
      const answer = await processes.send(next.port, 'POST', SESSIONS, { body, key });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.text, first.get(key) ?? answer.text);
      ids.add(JSON.parse(answer.text).id);
    }
    assert.equal(ids.size, mine.length);
    const rows = await CheckoutSession.query(processes.db).where({ clientReferenceId: reference });
    assert.equal(rows.length, mine.length);
  });
});
