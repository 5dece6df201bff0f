import type { ChildProcess } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { type Program, signalGroup, spawnService } from './spawn-service.js';

/** A built web or worker process under a supervisor that starts it again whenever it has ended. */
export interface ServiceProcessOptions {
  name: string;
  program: Program;
  folder: string;
  /** Called when the process ended without being killed: by itself, or not cleanly after it was told to stop. */
  onEnd(how: string, was: 'starting' | 'at work' | 'stopping'): void;
}

const READY = /"event":"(web\.listening|worker\.started)"/;
/** A process that is told to stop must end within this time. */
const STOPS_WITHIN_MS = 25_000;
const RESTART_PAUSE_MS = 300;
const READY_CHECK_MS = 50;

export class ServiceProcess {
  readonly name: string;
  readonly #options: ServiceProcessOptions;
  readonly #log: WriteStream;
  #child: ChildProcess | undefined;
  #readyAt: number | undefined;
  #isKilled = false;
  #isPaused = false;
  #toldToStopAt: number | undefined;
  #isOver = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = createWriteStream(path.join(options.folder, `${options.name}.log`), { flags: 'a' });
    this.#start();
  }

  get kind(): Program['kind'] {
    return this.#options.program.kind;
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

  /** Kills the process; the supervisor starts it again. */
  kill(): void {
    this.#isKilled = true;
    // On a busy machine it takes a while to end.
    this.#readyAt = undefined;
    this.#signal('SIGKILL');
  }

  /**
   * Sends SIGTERM; the supervisor starts it again when it has ended. Under npm the process gets the signal twice: as a
   * member of its group, and from npm.
   */
  requestStop(): void {
    this.#toldToStopAt = nowMs();
    this.#readyAt = undefined;
    this.#signal('SIGTERM');
  }

  /** Stops the process with SIGSTOP: it keeps its connections and answers nothing until it is resumed. */
  pause(): void {
    this.#isPaused = true;
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#isPaused = false;
    this.#signal('SIGCONT');
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    this.kill();
    while (child !== undefined && child.exitCode === null && child.signalCode === null)
      await sleep(READY_CHECK_MS);
    this.#log.end();
  }

  #signal(signal: NodeJS.Signals): void {
    signalGroup(this.#child?.pid, signal);
  }

  #start(): void {
    const child = spawnService(this.#options.program);
    this.#child = child;
    this.#readyAt = undefined;
    this.#isKilled = false;
    this.#isPaused = false;
    this.#toldToStopAt = undefined;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (!this.#isOver) this.#log.write(text);
        if (READY.test(text)) this.#readyAt = nowMs();
      });
    }
    child.stdin.on('error', () => {
      // The process has ended: `close` reports it.
    });
    // `close` waits for the whole group: npm may end before the process that it started.
    child.once('close', (code, signal) => this.#ended(code, signal ?? `code ${code}`));
  }

  #ended(code: number | null, how: string): void {
    const wasReady = this.isReady;
    this.#readyAt = undefined;
    if (this.#isOver) return;
    if (!this.#isKilled) this.#tellEnd(code, how, wasReady);
    setTimeout(() => {
      if (!this.#isOver) this.#start();
    }, RESTART_PAUSE_MS);
  }

  #tellEnd(code: number | null, how: string, wasReady: boolean): void {
    const { onEnd } = this.#options;
    if (this.#toldToStopAt === undefined) {
      onEnd(how, wasReady ? 'at work' : 'starting');
      return;
    }
    const ms = nowMs() - this.#toldToStopAt;
    if (code !== 0 || ms > STOPS_WITHIN_MS) onEnd(`${how} after ${ms} ms`, 'stopping');
  }
}
