import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { nowMs } from '../../../shared/process/clock.js';
import { findFreePort } from '../../world/http/listen.js';
import { type Kind, READY, serviceProgram } from '../../world/processes/processes.js';
import { type Exit, StartedProcess } from '../../world/processes/supervisor.js';
import type { Parts } from '../../world/program/parts.js';
import type { FaultEntry } from '../journals/entries.js';
import type { Journal } from '../journals/journal.js';
import type { Web } from '../purchases/service-client.js';

interface Host {
  kind: Kind;
  launcher: 'node' | 'npm';
  clockOffsetMs: number;
}

/** The service's processes. Hosts differ by their launcher and by their clocks. */
const HOSTS: Record<string, Host> = {
  'web-1': { kind: 'web', launcher: 'node', clockOffsetMs: 8000 },
  'web-2': { kind: 'web', launcher: 'npm', clockOffsetMs: 0 },
  'worker-1': { kind: 'worker', launcher: 'npm', clockOffsetMs: 0 },
  'worker-2': { kind: 'worker', launcher: 'node', clockOffsetMs: -6000 },
};
export const SERVICE_NAMES: readonly string[] = Object.keys(HOSTS);

const LOADED_FIRST = ['clock.mjs', 'facilitator-port.mjs'].map(
  (name) => pathToFileURL(path.join(projectRoot(), 'lab', 'chaos', 'system', name)).href,
);
/** A process that is told to stop must end within this time. */
const STOPS_WITHIN_MS = 25_000;
const RESTART_PAUSE_MS = 300;
const READY_CHECK_MS = 50;

interface StartOptions {
  folder: string;
  faults: Journal<FaultEntry>;
  variablesOf(name: string): Record<string, string>;
  parts: Parts;
}

/** Resolves when every process is ready. */
export async function startServices(options: StartOptions): Promise<{
  services: ServiceProcess[];
  webs: Web[];
}> {
  const services: ServiceProcess[] = [];
  const webs: Web[] = [];
  for (const [name, host] of Object.entries(HOSTS)) {
    const environment = options.variablesOf(name);
    if (host.kind === 'web') {
      environment.PORT = String(await findFreePort());
      webs.push({ name, url: `http://127.0.0.1:${environment.PORT}` });
    }
    services.push(options.parts.keep(new ServiceProcess(name, host, environment, options)));
  }
  await Promise.all(services.map((service) => service.ready()));
  return { services, webs };
}

/** A web or worker process that is started again whenever it has ended. */
export class ServiceProcess {
  readonly name: string;
  readonly kind: Kind;
  readonly #process: StartedProcess;
  readonly #faults: Journal<FaultEntry>;
  /** Says by how many milliseconds the host's clock is set. */
  readonly #clockFile: string;
  #readyAt: number | undefined;
  #isKilled = false;
  #isPaused = false;
  #toldToStopAt: number | undefined;
  #isOver = false;

  constructor(name: string, host: Host, variables: Record<string, string>, options: StartOptions) {
    this.name = name;
    this.kind = host.kind;
    this.#faults = options.faults;
    this.#clockFile = path.join(options.folder, `${name}.clock`);
    const environment = {
      ...variables,
      NODE_OPTIONS: LOADED_FIRST.map((url) => `--import=${url}`).join(' '),
      CHAOS_CLOCK_OFFSET_MS: String(host.clockOffsetMs),
      CHAOS_CLOCK_FILE: this.#clockFile,
    };
    const log = path.join(options.folder, `${name}.log`);
    const program = serviceProgram(host.kind, host.launcher, environment);
    this.#process = new StartedProcess({ ...program, name, log, group: true });
    void this.#keepRunning();
  }

  get isReady(): boolean {
    return this.#readyAt !== undefined;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get readyForMs(): number {
    return this.#readyAt === undefined ? 0 : nowMs() - this.#readyAt;
  }

  async ready(): Promise<void> {
    while (!this.isReady && !this.#isOver) await sleep(READY_CHECK_MS);
  }

  /** Kills the process, which is started again. */
  kill(): void {
    this.#isKilled = true;
    // The process takes a while to end on a busy machine.
    this.#readyAt = undefined;
    this.#process.signal('SIGKILL');
  }

  /**
   * Sends SIGTERM; the process is started again when it has ended. Under npm the process gets the signal twice: as a
   * member of its group, and from npm.
   */
  requestStop(): void {
    this.#toldToStopAt = nowMs();
    this.#readyAt = undefined;
    this.#process.signal('SIGTERM');
  }

  /** Stops the process with SIGSTOP: it keeps its connections and answers nothing until it is resumed. */
  pause(): void {
    this.#isPaused = true;
    this.#process.signal('SIGSTOP');
  }

  resume(): void {
    this.#isPaused = false;
    this.#process.signal('SIGCONT');
  }

  /** Sets the host's clock ahead or back; 0 sets it right. */
  async stepClock(ms: number): Promise<void> {
    await writeFile(this.#clockFile, String(ms));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#process.kill();
  }

  async #keepRunning(): Promise<void> {
    while (!this.#isOver) {
      this.#isKilled = false;
      this.#isPaused = false;
      this.#toldToStopAt = undefined;
      if (this.#process.hasEnded) this.#process.startAgain();
      const ready = this.#process.logged(...READY).then(
        () => {
          if (!this.#isKilled && this.#toldToStopAt === undefined) this.#readyAt = nowMs();
        },
        () => undefined, // The process has ended before: `exited` reports it.
      );
      const exit = await this.#process.exited;
      await ready;
      if (!this.#isOver && !this.#isKilled) this.#reportEnd(exit);
      this.#readyAt = undefined;
      await sleep(RESTART_PAUSE_MS);
    }
  }

  /** Records that the process ended by itself, or not cleanly after it was told to stop. */
  #reportEnd({ code, signal }: Exit): void {
    const how = signal ?? `code ${code}`;
    if (this.#toldToStopAt === undefined) {
      this.#record(this.isReady ? 'ended by itself' : 'did not start', how);
      return;
    }
    const ms = nowMs() - this.#toldToStopAt;
    if (code !== 0 || ms > STOPS_WITHIN_MS) this.#record('bad exit', `${how} after ${ms} ms`);
  }

  #record(fault: string, how: string): void {
    this.#faults.write({ at: nowMs(), fault, detail: `${this.name}: ${how}`, services: [this.name] });
  }
}
