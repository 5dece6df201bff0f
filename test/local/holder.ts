import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { EmbeddedPostgresOptions } from '../../local/postgres/embedded-postgres.js';
import { projectRoot } from '../../local/toolchain/project-root.js';
import type { SystemUser } from '../../local/toolchain/system-user.js';

/** A process with an embedded Postgres (hold-postgres.ts), and its events. */
export interface Holder {
  process: ChildProcess;
  exited: Promise<void>;
  /** The next event; rejects when the process ends instead. */
  next(): Promise<HolderEvent>;
  started(): Promise<StartedEvent>;
}

export interface StartedEvent {
  name: 'started';
  url: string;
  owned: boolean;
  dataDir: string;
  /** Encoding, collation, time zone. */
  server: string[];
}

export type HolderEvent = StartedEvent | { name: 'used it while stopping' } | { name: 'database was gone' };

export interface HolderOptions extends EmbeddedPostgresOptions {
  /** Switches to this user first. */
  user?: SystemUser;
}

export function parseHolderOptions(text: string | undefined): HolderOptions {
  return JSON.parse(text ?? '{}');
}

/** `variables` are added to the environment, as in `LANG=tr_TR.UTF-8`. */
export function startHolder(options: HolderOptions, variables: readonly string[] = []): Holder {
  const script = path.join(import.meta.dirname, 'hold-postgres.ts');
  const command = [process.execPath, '--import', 'tsx', script, JSON.stringify(options)];
  const child = spawn('/usr/bin/env', [...variables, ...command], {
    cwd: projectRoot(),
    detached: true, // a process group of its own, as a terminal gives each command
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let problems = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    problems += text;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<HolderEvent> => {
    const line = await lines.next();
    if (line.done) throw new Error(`The holder ended: ${problems}`);
    return JSON.parse(line.value);
  };
  return {
    process: child,
    exited: once(child, 'exit').then(() => undefined),
    next,
    async started() {
      const event = await next();
      if (event.name !== 'started') throw new Error(`The holder said "${event.name}" first.`);
      return event;
    },
  };
}

/** Returns the process id; throws when the child could not be started. */
export function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('The process was not started.');
  return child.pid;
}
