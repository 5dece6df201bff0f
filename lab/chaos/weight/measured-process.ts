import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { projectRoot } from '../../../local/toolchain/project-root.js';
import { type Kind, serviceProgram } from '../../world/processes/processes.js';
import { StartedProcess } from '../../world/processes/supervisor.js';

/** Measurements since the last reading. */
export interface Reading {
  /** The longest event loop delay, with the time that other processes had the processor. */
  blockedMs: number;
  /** The most processor time of the main thread that one turn of the event loop took; null where the system does not tell. */
  turnMs: number | null;
  /** How long the main thread could have run and got no processor; null likewise. */
  waitedMs: number | null;
  residentMiB: number;
  /** The highest memory use since the start. */
  mostMiB: number;
}

const HEAP_MIB = 256;
const PROBE = pathToFileURL(path.join(projectRoot(), 'lab', 'chaos', 'weight', 'probe.mjs')).href;

/** Starts a process of the service with a small heap and a probe. */
export function startMeasured(name: Kind, folder: string, variables: Record<string, string>): StartedProcess {
  const environment = {
    ...variables,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --import=${PROBE}`,
  };
  const log = path.join(folder, `${name}.log`);
  return new StartedProcess({ ...serviceProgram(name, 'node', environment), log, ipc: true });
}

/** Undefined when the process has ended. */
export async function readProbe(measured: StartedProcess | undefined): Promise<Reading | undefined> {
  if (measured === undefined || measured.hasEnded) return undefined;
  const reading = measured.message<Reading>();
  measured.send('read');
  return await reading.catch(() => undefined);
}

/** How a process ended; undefined while it runs. */
export async function endOf({ hasEnded, exited }: StartedProcess): Promise<string | undefined> {
  if (!hasEnded) return undefined;
  const { code, signal } = await exited;
  return signal ?? `code ${code}`;
}
