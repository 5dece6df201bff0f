import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/**
 * The real web and worker processes, as an operator runs them but from source. Each ends with this process, whatever
 * becomes of it: their standard input is a pipe from here.
 */
export interface ServiceProcess {
  pid: number;
  /** What it wrote, for error messages. */
  output(): string;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface WebServiceProcess extends ServiceProcess {
  port: number;
}

const ROOT = path.join(import.meta.dirname, '..', '..');
const END_WITH_PARENT =
  'data:text/javascript,process.stdin.resume().once("close",()=>process.kill(process.pid,"SIGKILL"))';
const running = new Set<ServiceProcess>();

export async function startWebProcess(environment: Record<string, string>): Promise<WebServiceProcess> {
  const { service, ready } = start('api/server.ts', 'web.listening', { PORT: '0', ...environment });
  const { port } = await ready;
  return Object.assign(service, { port: Number(port) });
}

export async function startWorkerProcess(environment: Record<string, string>): Promise<ServiceProcess> {
  const { service, ready } = start('workers/main.ts', 'worker.started', environment);
  await ready;
  return service;
}

/** Whatever is still running. */
export async function killProcesses(): Promise<void> {
  await Promise.all([...running].map((service) => service.kill()));
}

interface Started {
  service: ServiceProcess;
  /** The log line that says that it is ready. */
  ready: Promise<Record<string, unknown>>;
}

function start(entry: string, readyEvent: string, environment: Record<string, string>): Started {
  const child = spawn(process.execPath, ['--import', 'tsx', '--import', END_WITH_PARENT, entry], {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'info', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  const closed = once(child, 'close');
  const service: ServiceProcess = {
    pid: child.pid ?? 0,
    output: () => output,
    async kill() {
      child.kill('SIGKILL');
      await closed;
      running.delete(service);
    },
  };
  running.add(service);
  const ready = new Promise<Record<string, unknown>>((resolve, reject) => {
    readLines(child, (line) => {
      output += `${line}\n`;
      const said = parseLine(line);
      if (said?.event === readyEvent) resolve(said);
    });
    void closed.then(() => reject(new Error(`${entry} ended before it was ready:\n${output}`)));
  });
  return { service, ready };
}

function readLines(child: ChildProcess, hear: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) hear(line);
    });
  }
}

function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
