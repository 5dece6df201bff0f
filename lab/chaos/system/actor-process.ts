import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import type { ActorMessage, Order } from '../actors/actor.js';

/** The parent's side of an actor process. */
export class ActorProcess {
  readonly #child: ChildProcess;
  readonly #name: string;

  static start(name: string, folder: string, settings: object): ActorProcess {
    const log = openSync(path.join(folder, `${name}.log`), 'a');
    const entry = path.join('lab', 'chaos', 'actors', `${name}.ts`);
    const child = spawn(process.execPath, ['--import', 'tsx', entry, JSON.stringify(settings)], {
      cwd: projectRoot(),
      env: CHILD_ENVIRONMENT,
      stdio: ['ignore', log, log, 'ipc'],
    });
    return new ActorProcess(name, child);
  }

  private constructor(name: string, child: ChildProcess) {
    this.#name = name;
    this.#child = child;
  }

  /** Resolves when the actor sends this message. */
  waitFor(what: string): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.#child.on('message', ({ name, detail }: ActorMessage) => {
        if (name === what) resolve(detail);
      });
      this.#child.once('exit', () =>
        reject(new Error(`${this.#name} ended by itself: see ${this.#name}.log`)),
      );
    });
  }

  order(order: string, detail: Record<string, string> = {}): void {
    const message: Order = { order, detail };
    this.#child.send(message, () => {
      // The process has ended: `waitFor` reports it.
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
