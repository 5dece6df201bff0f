import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const MODULE = path.join(import.meta.dirname, '..', '..', 'local', 'build', 'build-version.mjs');

describe('the version that is built', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'build-version-'));
    writeFileSync(path.join(folder, 'package.json'), '{"version":"0.9.0"}');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function git(...args: string[]): string {
    const who = ['-c', 'user.name=Nobody', '-c', 'user.email=nobody@example.com'];
    return execFileSync('git', [...who, ...args], { cwd: folder })
      .toString()
      .trim();
  }

  function commit(): string {
    git('add', '.');
    git('commit', '--quiet', '--allow-empty', '--message', 'A change');
    return git('rev-parse', '--short', 'HEAD');
  }

  /** Runs in another process, whose environment has only these variables. */
  function version(environment: Record<string, string> = {}, root = folder): string {
    const program = `import { buildVersion } from ${JSON.stringify(MODULE)}; process.stdout.write(buildVersion(process.argv[1]))`;
    const args = ['--input-type=module', '--eval', program, root];
    const env = { PATH: process.env.PATH ?? '', ...environment };
    return execFileSync(process.execPath, args, { env }).toString();
  }

  it("is the tag's on a tagged commit, and the last tag's with the commit id after it", () => {
    git('init', '--quiet');
    commit();
    git('tag', 'v1.2.3');
    git('tag', 'of-no-version');
    assert.equal(version(), '1.2.3');
    const next = commit();
    assert.equal(version(), `0.9.0+${next}`);
  });

  it('comes from the environment without git: as the tag, or as the commit', () => {
    assert.equal(version({ BUILD_VERSION: 'v1.2.3' }), '1.2.3');
    assert.equal(version({ BUILD_VERSION: '1.2.3-rc.1', SOURCE_VERSION: 'abcdef' }), '1.2.3-rc.1');
    assert.equal(version({ BUILD_VERSION: '', SOURCE_VERSION: '0123456789abcdef' }), '0.9.0+0123456');
    assert.equal(version(), '0.9.0');
  });

  it("ignores a surrounding project's repository", () => {
    git('init', '--quiet');
    commit();
    git('tag', 'v7.7.7');
    const within = path.join(folder, 'within');
    mkdirSync(within);
    writeFileSync(path.join(within, 'package.json'), '{"version":"0.9.0"}');
    assert.equal(version({}, within), '0.9.0');
  });
});
