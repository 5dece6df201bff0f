import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../world/processes/services.js';

/** A Node process in production mode, with its log in a file. It ends with this process. */
export interface BenchProcess {
  url: string;
  /** From its start to its first answer. */
  startMs: number;
  residentMiB(): Promise<number>;
  /** User and system time so far. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

const ROOT = path.join(import.meta.dirname, '..', '..', '..');
const END_WITH_PARENT =
  'data:text/javascript,process.stdin.resume().once("close",()=>process.kill(process.pid,"SIGKILL")).unref()';
const ANSWERS_WITHIN_MS = 20_000;
const ASK_EVERY_MS = 5;
/** /proc/<pid>/stat counts in hundredths of a second. */
const TICK_MS = 10;
const running = new Set<ChildProcess>();

export interface ProcessSettings {
  environment: Record<string, string>;
  /** The setting with its port. */
  portVariable: 'PORT' | 'WORKER_METRICS_PORT';
  /** The path that is polled until it answers. */
  askFor: string;
  log: string;
}

export async function startServer(script: string, settings: ProcessSettings): Promise<BenchProcess> {
  const port = await findFreePort();
  const out = openSync(settings.log, 'a');
  const startedAt = performance.now();
  const flags = (process.env.BENCH_NODE_FLAGS ?? '').split(' ').filter(Boolean);
  const child = spawn(process.execPath, [...flags, '--import', END_WITH_PARENT, script], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'production',
      ...settings.environment,
      [settings.portVariable]: String(port),
    },
    stdio: ['pipe', out, out],
  });
  running.add(child);
  const url = `http://127.0.0.1:${port}`;
  await answered(child, url + settings.askFor, settings.log);
  return {
    url,
    startMs: performance.now() - startedAt,
    residentMiB: () => residentMiB(child.pid),
    cpuMs: () => cpuMsOf(child.pid),
    stop: () => stop(child),
  };
}

export async function stopServers(): Promise<void> {
  await Promise.all([...running].map(stop));
}

async function stop(child: ChildProcess): Promise<void> {
  running.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}

async function answered(child: ChildProcess, url: string, log: string): Promise<void> {
  const endsAt = performance.now() + ANSWERS_WITHIN_MS;
  for (;;) {
    try {
      await (await fetch(url)).arrayBuffer();
      return;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > endsAt) {
        throw new Error(`${url} does not answer:\n${await readFile(log, 'utf8')}`, { cause: error });
      }
    }
    await sleep(ASK_EVERY_MS);
  }
}

async function residentMiB(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Includes children that have ended. */
export async function cpuMsOf(pid: number | undefined): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * TICK_MS;
}
