import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, type WriteStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CHILD_ENVIRONMENT } from '../../local/child-environment.js';
import { projectRoot } from '../../local/project-root.js';
import { nowMs } from '../../shared/clock.js';

/** A web or worker process as it is built, kept up by a supervisor that starts it again whenever it has ended. */
export interface ServiceProcessOptions {
  name: string;
  entry: string;
  environment: Record<string, string>;
  folder: string;
  /** It ended, and nobody had killed it: by itself, or not as one should that was told to stop. */
  onEnd(how: string, was: 'starting' | 'at work' | 'stopping'): void;
}

/** Its standard input is a pipe from here, so that it ends with this process. */
const END_WITH_PARENT =
  'data:text/javascript,process.stdin.resume().once("close",()=>process.kill(process.pid,"SIGKILL"))';
const READY = /"event":"(web\.listening|worker\.started)"/;
/** A process that is told to stop leaves within this. */
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
  #toldToStopAt: number | undefined;
  #isOver = false;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = createWriteStream(path.join(options.folder, `${options.name}.log`), { flags: 'a' });
    this.#start();
  }

  get kind(): string {
    return this.#options.entry;
  }

  get isReady(): boolean {
    return this.#readyAt !== undefined;
  }

  get readyForMs(): number {
    return this.#readyAt === undefined ? 0 : nowMs() - this.#readyAt;
  }

  async ready(): Promise<void> {
    while (!this.isReady && !this.#isOver) await sleep(READY_CHECK_MS);
  }

  /** It is started again. */
  kill(): void {
    this.#isKilled = true;
    this.#child?.kill('SIGKILL');
  }

  /** It is started again when it has gone. */
  tellToStop(): void {
    this.#toldToStopAt = nowMs();
    this.#readyAt = undefined;
    this.#child?.kill('SIGTERM');
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    const child = this.#child;
    this.kill();
    while (child !== undefined && child.exitCode === null && child.signalCode === null)
      await sleep(READY_CHECK_MS);
    this.#log.end();
  }

  #start(): void {
    const { entry, environment } = this.#options;
    const child = spawn(
      process.execPath,
      ['--enable-source-maps', '--import', END_WITH_PARENT, path.join('dist', entry)],
      {
        cwd: projectRoot(),
        env: { ...CHILD_ENVIRONMENT, ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
      },
    );
    this.#child = child;
    this.#readyAt = undefined;
    this.#isKilled = false;
    this.#toldToStopAt = undefined;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        if (!this.#isOver) this.#log.write(text);
        if (READY.test(text)) this.#readyAt = nowMs();
      });
    }
    child.stdin.on('error', () => {
      // It has ended; `exit` tells.
    });
    child.once('exit', (code, signal) => this.#ended(code, signal ?? `code ${code}`));
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
