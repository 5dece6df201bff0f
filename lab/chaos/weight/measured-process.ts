import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CHILD_ENVIRONMENT } from '../../../local/toolchain/child-environment.js';
import { projectRoot } from '../../../local/toolchain/project-root.js';

/** Measurements since the last reading. */
export interface Reading {
  /** The longest event loop delay. */
  blockedMs: number;
  residentMiB: number;
  /** The highest memory use since the start. */
  mostMiB: number;
}

const HEAP_MIB = 256;
const ENTRIES = { web: 'api/server.js', worker: 'workers/main.js' };
const PROBE = pathToFileURL(path.join(projectRoot(), 'lab', 'chaos', 'weight', 'probe.mjs')).href;

/** A built process of the service with a small heap and a probe. It is not restarted when it ends. */
export class MeasuredProcess {
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

  /** How it ended; undefined while it runs. */
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
