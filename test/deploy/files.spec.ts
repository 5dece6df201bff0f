import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { DockerfileParser } from 'dockerfile-ast';
import { validate } from 'dockerfile-utils';
import { parse as parseYaml } from 'yaml';
import { runProgram, StartedProcess } from '../../lab/world/processes/supervisor.js';
import { loadConfig } from '../../shared/config/config.js';
import { assertCommand, COMMANDS, ROOT, read, unknown } from '../support/deploy-files.js';

const { engines } = JSON.parse(read('package.json'));
const DEFAULTS = loadConfig({ DATABASE_URL: 'postgres://x' }, 'migrate');

describe('the processes', () => {
  it('are those of the Procfile, and their files exist', () => {
    assert.deepEqual(Object.keys(COMMANDS), ['release', 'web', 'worker']);
    for (const command of Object.values(COMMANDS)) {
      const [, file = ''] = /^node dist\/(.+)\.js$/.exec(command) ?? [];
      assert.ok(existsSync(path.join(ROOT, `${file}.ts`)), command);
    }
    assert.deepEqual(unknown(['NO_SUCH_VARIABLE', 'RPC_URL_EIP155_8453']), ['NO_SUCH_VARIABLE']);
  });
});

describe('deploy/Dockerfile', () => {
  const text = read('deploy/Dockerfile');
  const file = DockerfileParser.parse(text);
  const stages = file.getFROMs().map((from) => from.getBuildStage() ?? '');
  const all = (keyword: string, fromLine = 0): string[][] =>
    file
      .getInstructions()
      .filter((one) => one.getKeyword() === keyword && (one.getRange()?.start.line ?? 0) >= fromLine)
      .map((one) => one.getArguments().map((argument) => argument.getValue()));
  const ofLastStage = (keyword: string): string[][] =>
    all(keyword, file.getFROMs().at(-1)?.getRange()?.start.line);
  /** Instructions in exec form such as `["node", "x"]`. */
  const words = (args: string[] | undefined): string[] => JSON.parse((args ?? []).join(' '));

  it('is valid and passes its linter', () => {
    const problems = validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`);
    assert.deepEqual(problems, []);
  });

  it("is built on the project's Node version and the system library of the tests", () => {
    const [, major = ''] = /^NODE=node:(\d+)-\w+-slim$/.exec(all('ARG')[0]?.[0] ?? '') ?? [];
    assert.ok(Number(major) >= Number.parseInt(engines.node.replace(/\D+/, ''), 10), major);
    const bases = file.getFROMs().map((from) => from.getImage());
    for (const base of bases) assert.ok(base === `\${NODE}` || stages.includes(base ?? ''), base ?? '');
  });

  it('ends as an image that runs web without root', () => {
    assert.deepEqual(ofLastStage('USER'), [['node']]);
    assertCommand(words(ofLastStage('CMD')[0]).join(' '), 'web');
    assert.deepEqual(ofLastStage('EXPOSE'), [[String(DEFAULTS.port)]]);
    assert.deepEqual(ofLastStage('ENV'), [['NODE_ENV=production']]);
    const [, health = ''] = /^HEALTHCHECK .*CMD (.*)$/m.exec(text) ?? [];
    assert.ok(existsSync(path.join(ROOT, JSON.parse(health)[1])));
  });

  it('copies existing files that .dockerignore does not exclude', () => {
    const copied = all('COPY').map((args) => args.filter((arg) => !arg.startsWith('--')));
    const flags = [...text.matchAll(/^COPY --from=(\w+)/gm)].map(([, stage = '']) => stage);
    for (const stage of flags) assert.ok(stages.includes(stage), stage);
    const sources = copied.flatMap((args) => args.slice(0, -1)).filter((source) => !source.startsWith('/'));
    assert.ok(sources.length > 6);
    const allowed = read('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    for (const file of allowed) assert.ok(existsSync(path.join(ROOT, file)), file);
    for (const source of sources.filter((one) => one !== '.')) {
      assert.ok(existsSync(path.join(ROOT, source)), source);
      const isAllowed = allowed.some((one) => source === one || source.startsWith(`${one}/`));
      assert.ok(isAllowed, source);
    }
    // The files that the build reads.
    const { include } = JSON.parse(read('tsconfig.build.json'));
    for (const folder of include) assert.ok(allowed.includes(folder), folder);
  });

  it('gets its version from the arguments that the build reads', () => {
    const given = all('ARG').map(([name = '']) => name.split('=')[0] ?? '');
    assert.deepEqual(given.slice(1), ['BUILD_VERSION', 'RENDER_GIT_COMMIT', 'SOURCE_VERSION']);
    for (const name of ['BUILD_VERSION', 'SOURCE_VERSION'])
      assert.ok(read('local/build/build-version.mjs').includes(`process.env.${name}`), name);
  });
});

interface ComposeService {
  image: string;
  build?: { context: string; dockerfile: string; target: string; args: Record<string, string> };
  command?: string[];
  environment?: Record<string, string>;
  env_file?: string[];
  ports?: string[];
  profiles?: string[];
  volumes?: string[];
  read_only?: boolean;
  healthcheck?: { test?: string[] };
  depends_on?: Record<string, { condition: string }>;
}

describe('deploy/compose.yaml', () => {
  const file: { services: Record<string, ComposeService>; volumes: Record<string, null> } = parseYaml(
    read('deploy/compose.yaml'),
    { merge: true, strict: true },
  );
  const { services, volumes } = file;
  const own = ['release', 'web', 'worker'] as const;

  it('has the stores, the three processes of the image, and the sandbox by a profile', () => {
    assert.deepEqual(Object.keys(services), ['postgres', 'redis', ...own, 'sandbox']);
    const withProfiles = Object.keys(services).filter((name) => services[name]?.profiles);
    assert.deepEqual(withProfiles, ['sandbox']);
    for (const name of own) {
      const service = services[name];
      const target = name === 'web' ? COMMANDS.web : service?.command?.join(' ');
      assertCommand(target ?? '', name);
      assert.equal(service?.read_only, true);
      assert.deepEqual(service?.env_file, [`\${SETTINGS:-../.env}`]);
      assert.deepEqual(unknown(Object.keys(service?.environment ?? {})), []);
      assert.match(service?.environment?.DATABASE_URL ?? '', /@postgres:5432\/checkout$/);
      assert.equal(service?.environment?.REDIS_URL, 'redis://redis:6379');
    }
  });

  it('builds stages of the Dockerfile', () => {
    const stages = DockerfileParser.parse(read('deploy/Dockerfile')).getFROMs();
    const names = stages.map((from) => from.getBuildStage());
    for (const { build } of Object.values(services)) {
      if (build === undefined) continue;
      assert.ok(existsSync(path.join(ROOT, 'deploy', build.context, build.dockerfile)));
      assert.ok(names.includes(build.target), build.target);
      assert.deepEqual(Object.keys(build.args), ['BUILD_VERSION']);
    }
  });

  it('depends on declared services and volumes, and probes open ports', () => {
    for (const { depends_on = {}, volumes: kept = [] } of Object.values(services)) {
      for (const [name, { condition }] of Object.entries(depends_on)) {
        const needed = services[name];
        if (condition === 'service_healthy') assert.ok(needed?.healthcheck?.test, name);
        else assert.deepEqual([name, condition], ['release', 'service_completed_successfully']);
      }
      for (const volume of kept) assert.ok((volume.split(':')[0] ?? '') in volumes, volume);
    }
    const { web, worker, redis } = services;
    for (const port of web?.ports ?? [])
      assert.equal(port, `127.0.0.1:${web?.environment?.PORT}:${web?.environment?.PORT}`);
    assert.equal(worker?.healthcheck?.test?.at(-1), worker?.environment?.WORKER_METRICS_PORT);
    assert.ok(existsSync(path.join(ROOT, worker?.healthcheck?.test?.at(-2) ?? 'nothing')));
    assert.deepEqual(redis?.command?.slice(-2), ['--maxmemory-policy', 'noeviction']);
  });

  it("has valid settings for the sandbox, at the sandbox's ports", () => {
    const settings = parseEnv(read('deploy/sandbox.env'));
    assert.deepEqual(unknown(Object.keys(settings)), []);
    for (const role of ['web', 'worker'] as const)
      loadConfig({ ...settings, ...services[role]?.environment }, role);
    const [, listed = ''] = /const PORTS: Ports = \{([^}]*)\}/.exec(read('lab/sandbox/main.ts')) ?? [];
    const ports = [...listed.matchAll(/\d+/g)].map(([port]) => port).sort();
    assert.equal(ports.length, 5);
    const used = [...read('deploy/sandbox.env').matchAll(/\/\/sandbox:(\d+)/g)].map(([, port]) => port);
    assert.deepEqual(used.sort(), ports);
    const [, relayed = ''] = /const PORTS = \[([^\]]*)\]/.exec(read('deploy/docker/sandbox.mjs')) ?? [];
    assert.deepEqual(relayed.split(', ').sort(), ports);
  });
});

describe('deploy/systemd', () => {
  const folder = path.join(ROOT, 'deploy', 'systemd');
  const units = readdirSync(folder).map((name) => path.join(folder, name));
  const PROCESSES = { migrate: 'release', 'web@': 'web', 'worker@': 'worker' };

  it('starts the processes, each with its settings', () => {
    for (const [unit, process] of Object.entries(PROCESSES)) {
      const text = read(`deploy/systemd/checkout-${unit}.service`);
      const [, port, command = ''] = /^ExecStart=\/usr\/bin\/env (?:(\w+)=%i )?(.+)$/m.exec(text) ?? [];
      assertCommand(command, process);
      assert.deepEqual(unknown(port === undefined ? [] : [port]), []);
      assert.match(text, /^User=checkout$/m);
    }
    assert.equal(units.length, Object.keys(PROCESSES).length);
  });

  // Skipped on machines without systemd.
  if (process.platform !== 'linux') return;

  it("passes systemd's check", async () => {
    const args = ['verify', '--man=no', ...units];
    const verified = await new StartedProcess({ command: 'systemd-analyze', args }).ran();
    assert.deepEqual(verified, { code: 0, stdout: '', stderr: '' });
  });

  it("has a low exposure level in systemd's security analysis", async () => {
    for (const unit of units) {
      const args = ['security', '--offline=true', '--threshold=20', '--no-pager', unit];
      await runProgram({ command: 'systemd-analyze', args });
    }
  });
});
