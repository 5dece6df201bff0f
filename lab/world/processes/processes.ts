import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { ensureBuilt } from '../../../local/build/ensure-built.mjs';

/**
 * The real web and worker processes, built and started as in production. Each ends with this process, even after a
 * crash: its standard input is a pipe from here.
 */
export interface ServiceProcess {
  pid: number;
  child: ChildProcess;
  /** All of standard output and standard error. */
  output(): string;
  /** All of standard error. */
  errors(): string;
  /** The log, one object per line. */
  lines(): Record<string, unknown>[];
  exited: Promise<Exit>;
  /** Sends SIGKILL and resolves when the process has ended. */
  kill(): Promise<void>;
}

export interface WebServiceProcess extends ServiceProcess {
  port: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export type EntryPoint = 'api/server' | 'workers/main' | 'shared/migrate';

const ROOT = path.join(import.meta.dirname, '..', '..', '..');
/** Without quotes and spaces, which NODE_OPTIONS would interpret. */
const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  'process.stdin.resume().once("close",()=>process.kill(process.pid,"SIGKILL")).unref()',
)}`;
const running = new Set<ServiceProcess>();
let built: Promise<void> | undefined;

export async function startWebProcess(environment: Record<string, string>): Promise<WebServiceProcess> {
  const service = await startProcess('api/server', { PORT: '0', LOG_LEVEL: 'info', ...environment });
  const { port } = await logged(service, 'web.listening');
  return Object.assign(service, { port: Number(port) });
}

export async function startWorkerProcess(environment: Record<string, string>): Promise<ServiceProcess> {
  const service = await startProcess('workers/main', { LOG_LEVEL: 'info', ...environment });
  await logged(service, 'worker.started');
  return service;
}

/** Starts a process whose environment holds only these variables. */
export async function startProcess(
  entry: EntryPoint,
  environment: Record<string, string>,
): Promise<ServiceProcess> {
  return await start(process.execPath, ['--import', END_WITH_PARENT, `dist/${entry}.js`], environment);
}

/**
 * Starts the process through npm, as hosting platforms do. Both run in a process group of their own, whose id is the
 * negative pid.
 */
export async function startGroup(
  script: 'web' | 'worker',
  environment: Record<string, string>,
): Promise<ServiceProcess> {
  const settings = {
    PORT: '0',
    LOG_LEVEL: 'info',
    NODE_OPTIONS: `--import=${END_WITH_PARENT}`,
    ...environment,
  };
  const group = await start('npm', ['run', script], settings, true);
  await logged(group, script === 'web' ? 'web.listening' : 'worker.started');
  return group;
}

async function start(
  program: string,
  args: string[],
  environment: Record<string, string>,
  detached = false,
): Promise<ServiceProcess> {
  built ??= ensureBuilt(ROOT);
  await built;
  const child = spawn(program, args, {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached,
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const service: ServiceProcess = {
    pid: child.pid ?? 0,
    child,
    output: () => written.stdout + written.stderr,
    errors: () => written.stderr,
    lines: () => parseLines(written.stdout),
    exited,
    async kill() {
      if (!detached) child.kill('SIGKILL');
      // The group may have ended already.
      else if (child.exitCode === null && child.signalCode === null) process.kill(-service.pid, 'SIGKILL');
      await exited;
      running.delete(service);
    },
  };
  running.add(service);
  return service;
}

/** Kills every process that still runs. */
export async function killProcesses(): Promise<void> {
  await Promise.all([...running].map((service) => service.kill()));
}

/** Waits for the log line of this event. */
function logged(service: ServiceProcess, event: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    service.child.stdout?.on('data', () => {
      const line = service.lines().find((one) => one.event === event);
      if (line !== undefined) resolve(line);
    });
    void service.exited.then(() =>
      reject(new Error(`the process ended before ${event}:\n${service.output()}`)),
    );
  });
}

/** Parses the complete lines. */
function parseLines(output: string): Record<string, unknown>[] {
  return output
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}
