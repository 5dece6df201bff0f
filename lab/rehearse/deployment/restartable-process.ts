import { type ServiceProcess, startWebProcess, startWorkerProcess } from '../../world/processes/processes.js';

export type Kind = 'web' | 'worker';

/** A process of the deployment that can be restarted and killed. */
export class RestartableProcess {
  readonly kind: Kind;
  readonly #environment: Record<string, string>;
  #now: ServiceProcess | undefined;

  constructor(kind: Kind, environment: Record<string, string>) {
    this.kind = kind;
    this.#environment = environment;
  }

  async start(): Promise<void> {
    const start = this.kind === 'web' ? startWebProcess : startWorkerProcess;
    this.#now = await start(this.#environment);
  }

  /** Restarts it as a platform does for a release: SIGTERM, wait, start. Returns its exit code and duration. */
  async restart(): Promise<{ code: number | null; ms: number }> {
    const began = performance.now();
    this.#now?.child.kill('SIGTERM');
    const ended = await this.#now?.exited;
    const ms = performance.now() - began;
    await this.start();
    return { code: ended?.code ?? null, ms };
  }

  async kill(): Promise<void> {
    await this.#now?.kill();
    await this.start();
  }

  /** Log lines of level error, and other output that an operator must see. */
  complaints(): string[] {
    const lines = this.#now?.lines() ?? [];
    return lines.flatMap(({ level, event }) => (level === 'error' || level === 'fatal' ? String(event) : []));
  }
}
