import { pick } from '../../world/chance/seeded-random.js';
import type { ServiceProcess } from '../stage/service-process.js';
import type { Fault } from './fault.js';

/**
 * The last of its kind, and one that has only just come up, are mostly spared: where starting takes long, nothing would
 * be left to break otherwise.
 */
const SPARED_SHARE = 0.8;
const YOUNG_MS = 3000;
/** So is one that stands still: it is to go on. */
const SPARED_PAUSED_SHARE = 0.9;

/** Every three seconds one that is up is killed, or told to stop; its supervisor starts it again when it has gone. */
export function killProcesses(): Fault {
  let signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL';
  return {
    everyMs: 3000,
    async strike({ services }, random) {
      const mayBeStruck = (service: ServiceProcess): boolean =>
        service.isPaused
          ? // It hears nothing before it goes on, and its time to stop would not be its own.
            signal === 'SIGKILL' && random() >= SPARED_PAUSED_SHARE
          : random() >= SPARED_SHARE || !isSpared(service, services);
      const victims = services.filter((service) => service.isReady && mayBeStruck(service));
      if (victims.length === 0) return undefined;
      const victim = pick(random, victims);
      const done = { fault: signal, detail: victim.name, services: [victim.name] };
      if (signal === 'SIGKILL') victim.kill();
      else victim.tellToStop();
      // By turns: however few there are time for, there are both.
      signal = signal === 'SIGKILL' ? 'SIGTERM' : 'SIGKILL';
      return done;
    },
  };
}

function isSpared(service: ServiceProcess, services: readonly ServiceProcess[]): boolean {
  const others = services.filter((other) => other !== service && other.kind === service.kind);
  const hasAnother = others.some((other) => other.isReady && !other.isPaused);
  return !hasAnother || service.readyForMs < YOUNG_MS;
}
