import path from 'node:path';
import { nodeProgram } from '../../world/processes/processes.js';
import { StartedProcess } from '../../world/processes/supervisor.js';
import type { Report } from './trade.js';

/** `npm run chaos` has bundled it. */
const PROGRAM = path.join('dist', 'programs', 'lab', 'chaos', 'weight', 'trade.js');

/** The ordinary merchant beside the heavy one, in a process of its own. */
export class Neighbour {
  readonly #process: StartedProcess;

  static async open(url: string, key: string): Promise<Neighbour> {
    const neighbour = new Neighbour(url, key);
    await neighbour.#process.message();
    return neighbour;
  }

  private constructor(url: string, key: string) {
    this.#process = new StartedProcess({ ...nodeProgram([PROGRAM, url, key]), ipc: true });
  }

  /** Measurements and refusals since the last report. */
  async report(): Promise<Report> {
    const report = this.#process.message<Report>();
    this.#process.send('report');
    return await report;
  }

  /** Starts no further order. */
  rest(): void {
    this.#process.send('stop');
  }

  async stop(): Promise<void> {
    await this.#process.kill();
  }
}
