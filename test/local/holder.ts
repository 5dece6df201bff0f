import path from 'node:path';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import type { EmbeddedPostgresOptions } from '../../local/postgres/embedded-postgres.js';
import type { SystemUser } from '../../local/toolchain/system-user.js';

/** A process with an embedded Postgres (hold-postgres.mjs), and its events. */
export interface Holder {
  /** The process has a process group of its own, as a terminal gives each command. */
  process: StartedProcess;
  /** The next event; rejects when the process ends instead. */
  next(): Promise<HolderEvent>;
  started(): Promise<StartedEvent>;
}

interface StartedEvent {
  name: 'started';
  url: string;
  owned: boolean;
  dataDir: string;
  /** The server's encoding, collation and time zone. */
  server: string[];
}

type HolderEvent = StartedEvent | { name: 'used it while stopping' } | { name: 'database was gone' };

export interface HolderOptions extends EmbeddedPostgresOptions {
  /** Switches to this user first. */
  user?: SystemUser;
}

export function startHolder(options: HolderOptions, environment: Record<string, string> = {}): Holder {
  const script = path.join(import.meta.dirname, 'hold-postgres.mjs');
  const program = nodeProgram([script, JSON.stringify(options)], { environment });
  const holder = new StartedProcess({ ...program, group: true });
  let read = 0;
  const next = async (): Promise<HolderEvent> => {
    const event = await holder.until('its next event', () => holder.lines<HolderEvent>()[read]);
    read += 1;
    return event;
  };
  return {
    process: holder,
    next,
    async started() {
      const event = await next();
      if (event.name !== 'started') throw new Error(`The holder said "${event.name}" first.`);
      return event;
    },
  };
}
