import { nowMs } from '../../../shared/process/clock.js';
import { findFreePort } from '../../world/processes/services.js';
import type { FaultEntry } from '../actors/entries.js';
import type { Journal } from '../actors/journal.js';
import type { Web } from '../actors/service-client.js';
import { ServiceProcess, type ServiceProcessOptions } from './service-process.js';
import type { Program } from './spawn-service.js';

/** The service's processes. Hosts differ by their launcher and by their clocks. */
const PROGRAMS: Record<string, Omit<Program, 'environment'>> = {
  'web-1': { kind: 'web', launcher: 'node', clockOffsetMs: 8000 },
  'web-2': { kind: 'web', launcher: 'npm', clockOffsetMs: 0 },
  'worker-1': { kind: 'worker', launcher: 'npm', clockOffsetMs: 0 },
  'worker-2': { kind: 'worker', launcher: 'node', clockOffsetMs: -6000 },
};
const ENDS = { starting: 'did not start', 'at work': 'ended by itself', stopping: 'bad exit' };

export const SERVICE_NAMES: readonly string[] = Object.keys(PROGRAMS);

export interface StartOptions {
  folder: string;
  faults: Journal<FaultEntry>;
  variablesOf(name: string): Record<string, string>;
  opened(service: ServiceProcess): void;
}

/** Resolves when every process is ready. */
export async function startServices(options: StartOptions): Promise<{
  services: ServiceProcess[];
  webs: Web[];
}> {
  const { folder, faults, variablesOf, opened } = options;
  const services: ServiceProcess[] = [];
  const webs: Web[] = [];
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const environment = variablesOf(name);
    if (program.kind === 'web') {
      environment.PORT = String(await findFreePort());
      webs.push({ name, url: `http://127.0.0.1:${environment.PORT}` });
    }
    const onEnd: ServiceProcessOptions['onEnd'] = (how, was) =>
      faults.write({ at: nowMs(), fault: ENDS[was], detail: `${name}: ${how}`, services: [name] });
    const service = new ServiceProcess({ name, program: { ...program, environment }, folder, onEnd });
    opened(service);
    services.push(service);
  }
  await Promise.all(services.map((service) => service.ready()));
  return { services, webs };
}
