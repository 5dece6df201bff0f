import assert from 'node:assert/strict';
import { cpSync, statSync } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { findPostgresBinaries } from '../../local/postgres/postgres-binaries.js';
import { interruptGroup, openPlayground, type Playground, postmasterPid, query } from './playground.js';
import { untilNoProcessMentions } from './processes.js';

describe('embedded Postgres: start and stop', () => {
  let playground: Playground;
  before(async () => {
    playground = await openPlayground();
  });
  afterEach(async () => {
    await playground.endAll();
  });
  after(async () => {
    await playground.remove();
  });

  it('runs until the application has stopped when Ctrl-C reaches the whole process group', async () => {
    const holder = playground.hold();
    const { dataDir } = await holder.started();
    interruptGroup(holder);
    assert.deepEqual(await holder.next(), { name: 'used it while stopping' });
    await holder.process.exited;
    await untilNoProcessMentions(dataDir);
  });

  it('ends when its owner is killed, and has the data at the next start', async () => {
    const holder = playground.hold();
    const owner = await holder.started();
    await query(owner, 'create table owner_was_killed as select 7 as number');
    holder.process.child.kill('SIGKILL');
    // The next start comes without a pause: a server that is stopping must not be used.
    const next = await playground.start();
    assert.equal(next.owned, true);
    assert.deepEqual(await query(next, 'select number from owner_was_killed'), [7]);
  });

  it('leaves no process behind when its owner is killed', async () => {
    const holder = playground.hold();
    const { dataDir } = await holder.started();
    holder.process.child.kill('SIGKILL');
    await holder.process.exited;
    await untilNoProcessMentions(dataDir);
  });

  it('leaves no process behind when its owner is killed while it starts, and no half of a cluster', async () => {
    const dir = path.join(playground.root, 'killed');
    const holder = playground.hold({ dir });
    while ((await unfinishedClusters(dir)).length === 0) await sleep(1);
    holder.process.child.kill('SIGKILL');
    await holder.process.exited;
    await untilNoProcessMentions(playground.root);
    // initdb would have written this file, too, later in its work.
    const { major } = await findPostgresBinaries({ user: undefined, copyInto: playground.root });
    const leftover = path.join(dir, `pg${major}.init-${holder.process.pid}-0`);
    await mkdir(leftover, { recursive: true });
    await writeFile(path.join(leftover, 'PG_VERSION'), `${major}\n`);
    const next = await playground.start({ dir });
    assert.deepEqual(await query(next, 'select 1'), [1]);
    assert.deepEqual(await unfinishedClusters(dir), []);
  });

  it('is shared with other processes, outlives one that joined, and is lost to the others when the owner ends', async () => {
    const owner = await playground.start();
    const second = playground.hold();
    const joined = await second.started();
    assert.deepEqual([owner.owned, joined.owned], [true, false]);
    assert.equal(joined.url, owner.url);
    await (await playground.start()).stop();
    assert.deepEqual(await query(owner, 'select 1'), [1]);
    await owner.stop();
    second.process.child.kill('SIGTERM');
    assert.deepEqual(await second.next(), { name: 'database was gone' });
    await second.process.exited;
    assert.equal((await playground.start()).owned, true);
  });

  it('has one owner when several processes start at once on an empty folder', async () => {
    const dir = path.join(playground.root, 'contested');
    const holders = [1, 2, 3].map(() => playground.hold({ dir }));
    const started = await Promise.all(holders.map((holder) => holder.started()));
    assert.equal(started.filter(({ owned }) => owned).length, 1);
    assert.equal(new Set(started.map(({ url }) => url)).size, 1);
    assert.deepEqual(await unfinishedClusters(dir), []);
  });

  it('starts again after its postmaster was killed', async () => {
    const first = await playground.start();
    await query(first, 'create table postmaster_was_killed as select 7 as number');
    process.kill(await postmasterPid(first.dataDir), 'SIGKILL');
    const second = await playground.start();
    assert.equal(second.owned, true);
    assert.deepEqual(await query(second, 'select number from postmaster_was_killed'), [7]);
    await first.stop();
    assert.deepEqual(await query(second, 'select 1'), [1]);
  });

  it('starts despite a pid file whose id a zombie or another process has now', async () => {
    const first = await playground.start();
    await first.stop();
    const { uid } = await stat(first.dataDir);
    const other = new StartedProcess({ command: 'sleep', args: ['1000'], user: { uid } });
    const args = ['-c', 'true & echo $!; exec sleep 1000'];
    const parent = new StartedProcess({ command: '/bin/sh', args });
    try {
      const [zombie] = await parent.until('the pid', () => /\d+\n/.exec(parent.printed()) ?? undefined);
      for (const pid of [other.pid, Number(zombie)]) {
        await leavePidFile(first.dataDir, pid);
        const next = await playground.start();
        assert.equal(next.owned, true);
        await next.stop();
      }
    } finally {
      await other.kill();
      await parent.kill();
    }
  });

  it('is not used for a copy of its folder', async () => {
    const original = await playground.start();
    await query(original, 'create table copied as select 7 as number');
    await query(original, 'checkpoint');
    const dir = path.join(playground.root, 'copy');
    // An asynchronous copy of its thousand files took this test half as much processor time again, at least.
    cpSync(path.dirname(original.dataDir), dir, {
      recursive: true,
      filter: (source) => !statSync(source).isSocket(),
    });
    const copy = await playground.start({ dir });
    assert.equal(copy.owned, true);
    await query(copy, 'drop table copied');
    assert.deepEqual(await query(original, 'select number from copied'), [7]);
  });

  it('tells connected clients that it stops', async () => {
    const server = await playground.start();
    const client = new pg.Client({ connectionString: server.url });
    const errors: unknown[] = [];
    client.on('error', (error) => errors.push(error));
    await client.connect();
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    await server.stop();
    await ended;
    assert.match(String(errors[0]), /terminating connection/);
  });
});

async function unfinishedClusters(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  return names.filter((name) => name.includes('.init-'));
}

async function leavePidFile(dataDir: string, pid: number): Promise<void> {
  const lines = [pid, dataDir, 1_700_000_000, 5432, `${dataDir}.socket`, '', '', 'ready   ', ''];
  await writeFile(path.join(dataDir, 'postmaster.pid'), lines.join('\n'), { mode: 0o600 });
}
