import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';

/** What a process felt since it was asked before. */
export interface Reading {
  /** For how long its event loop stood still at most. */
  heldMs: number;
  residentMiB: number;
  /** Since its start. */
  mostMiB: number;
}

const HEAP_MIB = 256;
const ENTRIES = { web: 'api/server.js', worker: 'workers/main.js' };
const PROBE = pathToFileURL(path.join(projectRoot(), 'lab', 'chaos', 'weight', 'probe.mjs')).href;

/** A process of the service as it is built, with a small heap, and a probe in it. It is not started again when it ends. */
export class WeighedProcess {
  readonly name: 'web' | 'worker';
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown[]>;
  #ended: string | undefined;

  constructor(name: 'web' | 'worker', folder: string, environment: Record<string, string>) {
    this.name = name;
    const log = openSync(path.join(folder, `${name}.log`), 'a');
    const flags = [`--max-old-space-size=${HEAP_MIB}`, '--import', PROBE];
    this.#child = spawn(process.execPath, [...flags, path.join('dist', ENTRIES[name])], {
      cwd: projectRoot(),
      env: { ...CHILD_ENVIRONMENT, ...environment },
      stdio: ['ignore', log, log, 'ipc'],
    });
    this.#exited = once(this.#child, 'exit').then(([code, signal]) => {
      this.#ended = signal ?? `code ${code}`;
      return [];
    });
  }

  /** How it ended; undefined while it runs, as it should. */
  get ended(): string | undefined {
    return this.#ended;
  }

  async read(): Promise<Reading | undefined> {
    if (this.#ended !== undefined) return undefined;
    const answered = new Promise<[Reading]>((resolve) => {
      this.#child.once('message', (reading: Reading) => resolve([reading]));
    });
    this.#child.send('read');
    const [reading] = await Promise.race([answered, this.#exited as Promise<[]>]);
    return reading;
  }

  async stop(): Promise<void> {
    if (this.#ended !== undefined) return;
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
