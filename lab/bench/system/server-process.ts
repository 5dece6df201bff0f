import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../../world/http/listen.js';
import { nodeProgram } from '../../world/processes/processes.js';
import { StartedProcess } from '../../world/processes/supervisor.js';

/** A Node process in production mode, with its log in a file. */
export interface BenchProcess {
  url: string;
  pid: number;
  /** Milliseconds from the start of the process to its first answer. */
  startMs: number;
  residentMiB(): Promise<number>;
  /** User and system time so far. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

const ANSWERS_WITHIN_MS = 20_000;
const ASK_EVERY_MS = 5;
/** /proc/<pid>/stat counts in hundredths of a second. */
const TICK_MS = 10;

interface ProcessSettings {
  environment: Record<string, string>;
  /** The setting with its port. */
  portVariable: 'PORT' | 'WORKER_METRICS_PORT';
  /** The path that is polled until it answers. */
  askFor: string;
  log: string;
}

export async function startServer(script: string, settings: ProcessSettings): Promise<BenchProcess> {
  const port = await findFreePort();
  const startedAt = performance.now();
  const environment = {
    NODE_ENV: 'production',
    ...settings.environment,
    [settings.portVariable]: String(port),
  };
  const server = new StartedProcess(nodeProgram([script], { environment, log: settings.log }));
  const url = `http://127.0.0.1:${port}`;
  await answered(server, url + settings.askFor);
  return {
    url,
    pid: server.pid,
    startMs: performance.now() - startedAt,
    residentMiB: () => residentMiB(server.pid),
    cpuMs: () => cpuMsOf(server.pid),
    async stop() {
      await server.stop();
    },
  };
}

async function answered(server: StartedProcess, url: string): Promise<void> {
  const endsAt = performance.now() + ANSWERS_WITHIN_MS;
  for (;;) {
    try {
      await (await fetch(url)).arrayBuffer();
      return;
    } catch (error) {
      if (server.hasEnded || performance.now() > endsAt)
        throw new Error(`${url} does not answer:\n${server.output()}`, { cause: error });
    }
    await sleep(ASK_EVERY_MS);
  }
}

async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** Includes children that have ended. */
export async function cpuMsOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * TICK_MS;
}
