import assert from 'node:assert/strict';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import path from 'node:path';
import { untilNoProcessMentions } from './processes.js';
import { createSampleProject, installByHand, type SampleProject } from './sample-project.js';

describe('with launchers,', () => {
  let project: SampleProject;
  beforeEach(async () => {
    project = await createSampleProject();
  });
  afterEach(async () => {
    await project.remove();
  });

  describe('installing', () => {
    it('happens at the first start, not again, and again when package-lock.json changes', async () => {
      const first = await project.run('start');
      assert.match(
        first.stderr,
        /^Installing dependencies \(first start only\) …\nadded 1 package\nBuilding …\n$/,
      );
      assert.deepEqual([first.code, first.stdout], [0, 'service runs']);
      assert.deepEqual(await project.run('start'), { code: 0, stdout: 'service runs', stderr: '' });
      assert.equal(await project.installs(), 1);
      await project.write(
        'package-lock.json',
        '{ "packages": { "node_modules/added": { "version": "1.0.0" } } }',
      );
      assert.equal((await project.run('start')).code, 0);
      assert.equal(await project.installs(), 2);
    });

    it('is not repeated after npm was run by hand, which installs less than it locks, until that does not match', async () => {
      await installByHand(project);
      const packages = {
        'node_modules/typescript': { version: '7.0.2' },
        'node_modules/for-another-system': { version: '1.0.0', optional: true },
        'node_modules/unwanted-peer': { version: '1.0.0', extraneous: true },
      };
      const lock = JSON.stringify({ packages });
      for (const [locked, installs] of [
        [await project.read('package-lock.json'), 0],
        [lock, 0],
        [lock.replace('7.0.2', '7.0.3'), 1],
      ] as const) {
        await project.write('package-lock.json', locked);
        assert.equal((await project.run('start')).code, 0);
        assert.equal(await project.installs(), installs);
      }
    });

    it('stops the start when it fails', async () => {
      await project.write('offline', '');
      const failed = await project.run('start');
      assert.deepEqual([failed.code, failed.stdout], [1, '']);
      assert.match(failed.stderr, /"npm ci" failed with code 7/);
      assert.equal(project.has('dist'), false);
      await rm(path.join(project.dir, 'offline'));
      assert.equal((await project.run('start')).stdout, 'service runs');
    });

    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ] as const) {
      it(`ends with the start on ${signal}`, async () => {
        await project.write('hang', '');
        const start = project.begin('start');
        await project.untilInstalling();
        start.signal(signal);
        assert.equal((await start.ran()).code, code);
        await untilNoProcessMentions(project.dir);
      });
    }

    it('leaves no process behind when it is killed, and is repeated', async () => {
      await project.write('hang', '');
      const start = project.begin('start');
      await project.untilInstalling();
      start.signal('SIGKILL');
      await start.ran();
      await untilNoProcessMentions(project.dir);
      await rm(path.join(project.dir, 'hang'));
      assert.equal((await project.run('start')).stdout, 'service runs');
      assert.equal(await project.installs(), 2);
    });

    it('is done by a start that finds a half-written list of what is installed', async () => {
      await project.write('node_modules/.package-lock.json', '{ "packages": {');
      assert.equal((await project.run('start')).stdout, 'service runs');
      assert.equal(await project.installs(), 1);
    });

    it('happens once for several starts at once', async () => {
      const outcomes = await Promise.all([1, 2, 3].map(() => project.run('start')));
      assert.deepEqual(
        outcomes.map(({ stdout }) => stdout),
        ['service runs', 'service runs', 'service runs'],
      );
      assert.equal(await project.installs(), 1);
      assert.equal(outcomes.filter(({ stderr }) => stderr.includes('Building')).length, 1);
      assert.deepEqual(await readdir(path.join(project.dir, '.data')), []);
    });

    it('is refused on a Node.js that is too old', async () => {
      const older = 'Object.defineProperty(process, "versions", { value: { node: "20.18.3" } })';
      const refused = await project.run('start', { nodeArgs: ['--import', `data:text/javascript,${older}`] });
      assert.equal(refused.code, 1);
      assert.equal(refused.stderr, 'This needs Node.js 20.19 or newer; this is 20.18.3.\n');
    });
  });

  describe('the operator’s commands', () => {
    it('install nothing and replace no build, keep the launcher’s output off standard output, and pass the exit code on', async () => {
      const missing = await project.run('merchants', { args: ['list', '--json'] });
      assert.deepEqual(missing, {
        code: 1,
        stdout: '',
        stderr: 'The packages are not installed here: run "npm ci" first.\n',
      });
      await installByHand(project);
      const first = await project.run('merchants', { args: ['list', '--json'] });
      assert.deepEqual(first, { code: 3, stdout: '["list","--json"]', stderr: 'Building …\n' });
      const built = await project.read('dist/.build-hash');
      await project.write('package-lock.json', '{}');
      const stale = await project.run('merchants', { args: ['list'] });
      assert.deepEqual([stale.code, stale.stdout], [3, '["list"]']);
      assert.match(stale.stderr, /^The build here is older than its sources: [^\n]*\n$/);
      assert.equal(await project.read('dist/.build-hash'), built);
      assert.equal(await project.installs(), 0);
    });

    it('install and build nothing in production', async () => {
      const variables = ['NODE_ENV=production'];
      const refused = await project.run('merchants', { args: ['list'], variables });
      assert.deepEqual(refused, {
        code: 1,
        stdout: '',
        stderr: 'There is no build here: run "npm run build" first.\n',
      });
      await installByHand(project);
      await project.run('build');
      const outcome = await project.run('merchants', { args: ['list'], variables });
      assert.deepEqual(outcome, { code: 3, stdout: '["list"]', stderr: '' });
      assert.equal(await project.installs(), 0);
    });
  });
});

/** Each story leaves a project that is built. */
describe('building by launchers', () => {
  let project: SampleProject;
  before(async () => {
    project = await createSampleProject();
    await installByHand(project);
    await project.run('build');
  });
  after(async () => {
    await project.remove();
  });

  it('is not repeated for new modification times', async () => {
    const files = [
      'local/service/run-service.ts',
      'tsconfig.build.json',
      'package-lock.json',
      'dist/.build-hash',
    ];
    for (const [days, file] of files.entries()) {
      await utimes(path.join(project.dir, file), new Date(), new Date(Date.UTC(2040, 0, 1 + days)));
    }
    assert.equal((await project.run('start')).stderr, '');
  });

  it('follows a change of a source', async () => {
    const source = await project.read('local/service/run-service.ts');
    await project.write('local/service/run-service.ts', source.replace('service runs', 'service walks'));
    assert.equal((await project.run('start')).stdout, 'service walks');
  });

  it('has the sandbox bundled beside it, after a change of the sandbox alone', async () => {
    const bundle = 'dist/programs/lab/sandbox/main.js';
    await project.run('start');
    assert.equal(project.has(bundle), false, 'without the development packages');
    await project.write('node_modules/litesvm/package.json', '{}');
    await project.run('start');
    const before = await stat(path.join(project.dir, bundle));
    assert.deepEqual(await project.run('start'), { code: 0, stdout: 'service walks', stderr: '' });
    assert.equal((await stat(path.join(project.dir, bundle))).ino, before.ino, 'made again');

    await project.write('lab/sandbox/main.ts', "process.stdout.write('sandbox walks');\n");
    assert.deepEqual(await project.run('start'), { code: 0, stdout: 'service walks', stderr: '' });
    assert.match(await project.read(bundle), /sandbox walks/);
  });

  for (const file of ['package-lock.json', 'tsconfig.json', 'tsconfig.build.json']) {
    it(`follows a change of ${file}`, async () => {
      await project.write(file, `${await project.read(file)}\n`);
      assert.match((await project.run('start')).stderr, /Building …/);
    });
  }

  it('drops the output of a deleted source', async () => {
    await project.write('api/route.ts', 'export const path = "/";\n');
    await project.run('start');
    assert.ok(project.has('dist/api/route.js'));
    await rm(path.join(project.dir, 'api/route.ts'));
    await project.run('start');
    assert.equal(project.has('dist/api/route.js'), false);
  });

  it('prints the errors when it fails, starts nothing, and leaves the last good build', async () => {
    await project.write('api/route.ts', 'export const path: number = "/";\n');
    const failed = await project.run('start');
    assert.deepEqual([failed.code, failed.stdout], [1, '']);
    assert.match(failed.stderr, /api\/route\.ts.*TS2322[\s\S]*The build failed/);
    assert.ok(project.has('dist/local/service/run-service.js'));
    assert.equal(project.has('dist.new'), false);
    await rm(path.join(project.dir, 'api/route.ts'));
  });

  it('is repeated after an interruption', async () => {
    await rm(path.join(project.dir, 'dist/.build-hash'));
    await project.write('dist.new/api/leftover.js', '');
    assert.match((await project.run('start')).stderr, /Building …/);
    assert.equal(project.has('dist/api/leftover.js'), false);
  });

  it('always happens on npm run build', async () => {
    assert.deepEqual(await project.run('build'), { code: 0, stdout: '', stderr: 'Building …\n' });
  });
});
