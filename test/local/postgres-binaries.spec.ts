import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, chown, cp, lstat, mkdir, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findPostgresBinaries } from '../../local/postgres/postgres-binaries.js';
import { bundledPackage } from '../../local/postgres/postgres-package.js';
import { chooseServerUser, type SystemUser } from '../../local/toolchain/system-user.js';
import { openPlayground, type Playground, runsAsRoot } from './playground.js';

describe('Postgres binaries', () => {
  let playground: Playground;
  let copyInto: string;
  let user: SystemUser | undefined;
  beforeEach(async () => {
    playground = await openPlayground();
    copyInto = path.join(playground.root, 'base');
    await mkdir(copyInto);
    user = runsAsRoot ? chooseServerUser(await readFile('/etc/passwd', 'utf8'), 0) : undefined;
  });
  afterEach(async () => {
    await playground.remove();
  });

  it('are those of the npm package, with the links that npm leaves out', async () => {
    const packageDir = await freshPackage('package');
    const found = await findPostgresBinaries({ user, copyInto, packageDir });
    assert.equal(found.bin, path.join(packageDir, 'bin'));
    assert.equal(found.major, found.version.split('.')[0]);
    assert.deepEqual(await readdir(copyInto), []);
  });

  it('are copied from a folder that the database user cannot enter', async () => {
    const home = path.join(playground.root, 'home');
    await mkdir(home);
    const packageDir = await freshPackage('home/package');
    await closeTo(user, home, packageDir);
    const found = await findPostgresBinaries({ user, copyInto, packageDir });
    assert.ok(found.bin.startsWith(`${copyInto}/`), found.bin);
    const [copy] = await readdir(copyInto);
    // The second call reuses the copy.
    assert.deepEqual(await findPostgresBinaries({ user, copyInto, packageDir }), found);
    assert.deepEqual(await readdir(copyInto), [copy]);
    await chmod(path.join(packageDir, 'lib'), 0o755);
  });

  it('are the system’s when the package does not run here', async () => {
    const packageDir = await freshPackage('package');
    await rm(path.join(packageDir, 'bin'), { recursive: true });
    await mkdir(path.join(packageDir, 'bin'));
    for (const program of ['initdb', 'postgres']) {
      await writeFile(path.join(packageDir, 'bin', program), 'made for another system', { mode: 0o755 });
    }
    const outcome = await findPostgresBinaries({ user, copyInto, packageDir }).then(
      (found) => found.bin,
      (error: Error) => error.message,
    );
    // Without a Postgres the error says what to do.
    assert.match(outcome, existsSync(outcome) ? /^\// : /set DATABASE_URL/);
    assert.ok(!outcome.startsWith(packageDir));
  });

  it('are reported as missing when the given folder has none', async () => {
    await assert.rejects(findPostgresBinaries({ user, copyInto, binDir: copyInto }), (error: Error) =>
      error.message.includes(path.join(copyInto, 'initdb')),
    );
  });

  /** The package as npm unpacks it: without links. */
  async function freshPackage(name: string): Promise<string> {
    const source = path.resolve(bundledPackage() ?? '', '..');
    const target = path.join(playground.root, name);
    await cp(source, target, { recursive: true, verbatimSymlinks: true });
    const lib = path.join(target, 'native', 'lib');
    for (const file of await readdir(lib)) {
      if ((await lstat(path.join(lib, file))).isSymbolicLink()) await unlink(path.join(lib, file));
    }
    return path.join(target, 'native');
  }

  /** Makes the folder inaccessible to root's database user, or read-only to an ordinary user. */
  async function closeTo(
    databaseUser: SystemUser | undefined,
    home: string,
    packageDir: string,
  ): Promise<void> {
    if (databaseUser === undefined) return chmod(path.join(packageDir, 'lib'), 0o555);
    await chown(home, 0, 0);
    await chmod(home, 0o700);
  }
});
