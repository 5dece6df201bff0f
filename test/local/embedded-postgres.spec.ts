import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findPostgresBinaries } from '../../local/postgres/postgres-binaries.js';
import { chooseServerUser, type SystemUser } from '../../local/toolchain/system-user.js';
import { openPlayground, type Playground, query, runsAsRoot } from './playground.js';

describe('embedded Postgres: its folder and its user', () => {
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

  it('runs as an ordinary user', async () => {
    const dir = path.join(playground.root, 'theirs');
    await mkdir(dir);
    const nobody = runsAsRoot ? await userNamed('nobody') : undefined;
    if (nobody !== undefined) await chown(dir, nobody.uid, nobody.gid);
    // The user `nobody` may not be able to enter the checkout itself.
    const { bin: binDir } = await findPostgresBinaries({ user: nobody, copyInto: playground.root });
    const server = await playground.hold({ dir, binDir, ...(nobody && { user: nobody }) }).started();
    assert.equal(path.dirname(server.dataDir), dir);
    assert.equal((await stat(server.dataDir)).uid, nobody?.uid ?? process.getuid?.());
  });

  it('never runs as root, opens no port, and lets only its owner into the folder of its socket', async () => {
    const server = await playground.start();
    const owner = (await stat(server.dataDir)).uid;
    assert.equal(owner, runsAsRoot ? (await serverUser(0)).uid : process.getuid?.());
    assert.notEqual(owner, 0);
    assert.deepEqual(await query(server, 'show listen_addresses'), ['']);
    const socketDir = new URL(server.url).searchParams.get('host') ?? '';
    assert.ok(existsSync(path.join(socketDir, '.s.PGSQL.5432')));
    assert.equal((await stat(socketDir)).mode & 0o777, 0o700);
  });

  it('chooses the owner of the folder, then postgres, then nobody', () => {
    const root = 'root:x:0:0:root:/root:/bin/sh';
    const nobody = 'nobody:x:65534:65533::/:/bin/false';
    const postgres = 'postgres:x:101:104::/:/bin/sh';
    const both = [root, nobody, postgres].join('\n');
    assert.deepEqual(chooseServerUser(both, 0), { uid: 101, gid: 104 });
    assert.deepEqual(chooseServerUser(both, 65534), { uid: 65534, gid: 65533 });
    assert.deepEqual(chooseServerUser(`${root}\n${nobody}\n`, 0), { uid: 65534, gid: 65533 });
    // initdb refuses a uid without a name.
    assert.deepEqual(chooseServerUser(both, 12345), { uid: 101, gid: 104 });
    assert.throws(() => chooseServerUser(`${root}\n`, 0), /DATABASE_URL/);
  });

  it('works below a folder that only its owner may enter, also for several checkouts', async () => {
    const home = path.join(playground.root, 'home');
    await mkdir(home, { mode: 0o700 });
    const dirs = ['one', 'two'].map((name) => path.join(home, name, 'postgres'));
    const servers = await Promise.all(dirs.map((dir) => playground.start({ dir })));
    const expected = runsAsRoot ? path.join(playground.root, 'fallback') : home;
    for (const [index, server] of servers.entries()) {
      assert.ok(server.dataDir.startsWith(`${expected}/`), server.dataDir);
      await query(server, `create table mine as select ${index} as number`);
      await server.stop();
    }
    for (const [index, dir] of dirs.entries()) {
      assert.deepEqual(await query(await playground.start({ dir }), 'select number from mine'), [index]);
    }
  });

  it('keeps the user that owns the folder, and its socket below the length limit in a deep one', async () => {
    const names = Array.from({ length: 6 }, () => 'a-folder-with-a-long-name');
    const deep = path.join(playground.root, ...names, 'é');
    await mkdir(deep, { recursive: true });
    if (runsAsRoot) await chown(deep, (await userNamed('nobody')).uid, -1);
    const server = await playground.start({ dir: deep });
    assert.ok(server.dataDir.startsWith(deep));
    assert.equal((await stat(server.dataDir)).uid, (await stat(deep)).uid);
    assert.deepEqual(await query(server, 'select 1'), [1]);
  });

  it("ignores its caller's locale and PG variables", async () => {
    const locale = { LANG: 'tr_TR.UTF-8', LC_ALL: 'xx_XX.latin1', TZ: 'Asia/Tokyo' };
    const variables = {
      PGPORT: '1',
      PGHOST: 'nowhere.invalid',
      PGSSLMODE: 'require',
      PGDATA: '/nowhere',
    };
    const { server } = await playground.hold({}, { ...locale, ...variables }).started();
    assert.deepEqual(server, ['UTF8', 'C', 'UTC']);
  });

  it('keeps its data over a restart, in a folder that names the major version, beside the cluster of another', async () => {
    const first = await playground.start();
    await query(first, 'create table of_one_version as select 7 as number');
    await first.stop();
    const second = await playground.start();
    assert.deepEqual([first.owned, second.owned], [true, true]);
    assert.equal(path.basename(second.dataDir), `pg${second.version.split('.')[0]}`);
    assert.deepEqual(await query(second, 'show server_version'), [second.version]);
    assert.deepEqual(await query(second, 'select number from of_one_version'), [7]);
    await second.stop();
    const other = await playground.start({ binDir: await programsOfVersion('17.0') });
    assert.equal(path.basename(other.dataDir), 'pg17');
    await other.stop();
    assert.deepEqual(await query(await playground.start(), 'select number from of_one_version'), [7]);
  });

  /** The installed programs under another version number. */
  async function programsOfVersion(version: string): Promise<string> {
    const folder = path.join(playground.root, version);
    await mkdir(folder);
    const user = runsAsRoot ? await serverUser(0) : undefined;
    const { bin } = await findPostgresBinaries({ user, copyInto: playground.root });
    const claim = `[ "$1" = --version ] && echo "postgres (PostgreSQL) ${version}" && exit\n`;
    await writeFile(path.join(folder, 'postgres'), `#!/bin/sh\n${claim}exec "${bin}/postgres" "$@"\n`);
    await writeFile(path.join(folder, 'initdb'), `#!/bin/sh\nexec "${bin}/initdb" "$@"\n`);
    for (const program of ['postgres', 'initdb']) await chmod(path.join(folder, program), 0o755);
    return folder;
  }
});

async function serverUser(owner: number): Promise<SystemUser> {
  return chooseServerUser(await readFile('/etc/passwd', 'utf8'), owner);
}

async function userNamed(name: string): Promise<SystemUser> {
  const passwd = await readFile('/etc/passwd', 'utf8');
  return chooseServerUser(
    passwd
      .split('\n')
      .filter((line) => line.startsWith(`${name}:`))
      .join('\n'),
    0,
  );
}
