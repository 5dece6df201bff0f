import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import type { Report } from './trade.js';

const PROGRAM = path.join(import.meta.dirname, 'trade.ts');

/** The ordinary merchant beside the heavy one, in a process of its own. */
export class Neighbour {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;

  static async open(url: string, key: string): Promise<Neighbour> {
    const neighbour = new Neighbour(url, key);
    await neighbour.#receive();
    return neighbour;
  }

  private constructor(url: string, key: string) {
    this.#child = fork(PROGRAM, [url, key], { env: CHILD_ENVIRONMENT, execArgv: ['--import', 'tsx'] });
    this.#exited = once(this.#child, 'exit');
  }

  /** Measurements and refusals since the last report. */
  async report(): Promise<Report> {
    this.#child.send('report');
    return await this.#receive<Report>();
  }

  /** Starts no further order. */
  rest(): void {
    this.#child.send('stop');
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  async #receive<T>(): Promise<T> {
    const died = this.#exited.then(([code]) => {
      throw new Error(`the neighbour's process ended with ${code}`);
    });
    const reply = once(this.#child, 'message') as Promise<[T]>;
    const [said] = await Promise.race([reply, died]);
    return said;
  }
}
