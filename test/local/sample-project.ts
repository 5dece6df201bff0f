import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Ran, StartedProcess } from '../../lab/world/processes/supervisor.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { untilNoProcessMentions } from './processes.js';

/** A small project with this project's launchers, the real compiler and bundler, and a fake npm that installs only those. */
export interface SampleProject {
  dir: string;
  write(file: string, content: string): Promise<void>;
  read(file: string): Promise<string>;
  has(file: string): boolean;
  /** Runs local/<launcher>.mjs. */
  run(launcher: string, options?: RunOptions): Promise<Ran>;
  begin(launcher: string, options?: RunOptions): StartedProcess;
  installs(): Promise<number>;
  untilInstalling(): Promise<void>;
  remove(): Promise<void>;
}

export interface RunOptions {
  args?: readonly string[];
  nodeArgs?: readonly string[];
  /** Environment variables, for example `NODE_ENV=production`. */
  variables?: readonly string[];
}

const INSTALLED = ['typescript', 'esbuild'];

/** A fake `npm ci` that hangs while there is a file named "hang", and ignores SIGTERM as the real one does. */
const FAKE_NPM = `
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
appendFileSync('npm-calls', process.argv[2] + '\\n');
process.on('SIGTERM', () => {});
rmSync('node_modules', { recursive: true, force: true });
mkdirSync('node_modules');
if (existsSync('hang')) {
  writeFileSync('node_modules/half', '');
  setInterval(() => {}, 1000);
} else if (existsSync('offline')) {
  process.exit(7);
} else {
  const packages = readFileSync('packages', 'utf8');
  for (const name of ${JSON.stringify(INSTALLED)}) symlinkSync(packages + '/' + name, 'node_modules/' + name);
  writeFileSync('node_modules/.package-lock.json', readFileSync('package-lock.json'));
  process.stdout.write('added 1 package\\n');
}
`;

const WRITE = 'declare const process: { stdout: { write(text: string): void } };\n';
const FILES = {
  'package.json': '{ "type": "module" }',
  'package-lock.json': JSON.stringify({
    packages: { '': {}, 'node_modules/typescript': { version: '7.0.2' } },
  }),
  'tsconfig.json': '{}',
  'tsconfig.build.json': JSON.stringify({
    compilerOptions: {
      strict: true,
      target: 'ES2023',
      // The smallest library, since reading it takes most of the compiler's time.
      lib: ['ES2023'],
      skipLibCheck: true,
      module: 'NodeNext',
      types: [],
      rootDir: '.',
      noEmitOnError: true,
    },
    include: ['local', 'cli', 'api'],
  }),
  'local/service/run-service.ts': `${WRITE}process.stdout.write('service runs');\nexport {};\n`,
  'lab/sandbox/main.ts': 'export {};\n',
  'cli/merchants.ts': `${WRITE}export async function start(args: string[]): Promise<number> {
    process.stdout.write(JSON.stringify(args));
    return 3;
  }\n`,
  'fake-npm/npm-cli.js': FAKE_NPM,
  'fake-npm/package.json': '{ "type": "module" }',
  packages: path.join(projectRoot(), 'node_modules'),
};

export async function createSampleProject(): Promise<SampleProject> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'stablecoin-checkout-sample-'));
  const at = (file: string): string => path.join(dir, file);
  const write = async (file: string, content: string): Promise<void> => {
    await mkdir(path.dirname(at(file)), { recursive: true });
    await writeFile(at(file), content);
  };
  for (const [file, content] of Object.entries(FILES)) await write(file, content);
  const launchers = path.join(projectRoot(), 'local');
  for (const name of await readdir(launchers, { recursive: true })) {
    if (/\.(mjs|sh)$/.test(name)) await cp(path.join(launchers, name), at(`local/${name}`));
  }

  const begin = (
    launcher: string,
    { args = [], nodeArgs = [], variables = [] }: RunOptions = {},
  ): StartedProcess => {
    const command = [process.execPath, ...nodeArgs, at(`local/commands/${launcher}.mjs`), ...args];
    const npm = `npm_execpath=${at('fake-npm/npm-cli.js')}`;
    return new StartedProcess({ command: '/usr/bin/env', args: [npm, ...variables, ...command] });
  };
  return {
    dir,
    write,
    begin,
    read: (file) => readFile(at(file), 'utf8'),
    has: (file) => existsSync(at(file)),
    run: (launcher, options) => begin(launcher, options).ran(),
    async installs() {
      const calls = await readFile(at('npm-calls'), 'utf8').catch(() => '');
      return calls.split('\n').filter((call) => call === 'ci').length;
    },
    async untilInstalling() {
      while (!existsSync(at('node_modules/half'))) await sleep(5);
    },
    async remove() {
      await untilNoProcessMentions(dir);
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Changes node_modules as npm does when it is run by hand. */
export async function installByHand(project: SampleProject): Promise<void> {
  await mkdir(path.join(project.dir, 'node_modules'), { recursive: true });
  const packages = await project.read('packages');
  for (const name of INSTALLED)
    await symlink(path.join(packages, name), path.join(project.dir, 'node_modules', name));
  await project.write('node_modules/.package-lock.json', await project.read('package-lock.json'));
}
