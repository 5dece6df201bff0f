import path from 'node:path';
import { nodeProgram } from '../../world/processes/processes.js';
import { StartedProcess } from '../../world/processes/supervisor.js';
import type { Parts } from '../../world/program/parts.js';
import type { ActorMessage, Order } from '../actors/actor.js';
import { journalFile } from '../journals/open-journals.js';

/** The parent's side of an actor process. */
export class ActorProcess extends StartedProcess {
  /** Resolves when the actor sends this message. */
  async waitFor(what: string): Promise<Record<string, unknown>> {
    return (await this.message<ActorMessage>(({ name }) => name === what)).detail;
  }

  order(order: string, detail: Record<string, string> = {}): void {
    const message: Order = { order, detail };
    this.send(message);
  }
}

export interface StartedActor {
  actor: ActorProcess;
  /** The values that the actor reported when it was ready. */
  said: Record<string, unknown>;
}

/** Starts an actor with a journal of its name, and waits until it is ready. */
export async function startActor(
  name: string,
  folder: string,
  settings: object,
  parts: Parts,
): Promise<StartedActor> {
  // `npm run chaos` has bundled it.
  const program = path.join('dist', 'programs', 'lab', 'chaos', 'actors', `${name}.js`);
  const args = [program, JSON.stringify({ ...settings, journal: journalFile(folder, name) })];
  const log = path.join(folder, `${name}.log`);
  const actor = new ActorProcess({ ...nodeProgram(args), name, log, ipc: true });
  parts.keep({ stop: () => actor.kill() });
  return { actor, said: await actor.waitFor('ready') };
}
