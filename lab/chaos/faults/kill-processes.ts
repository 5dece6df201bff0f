import { pick } from '../../world/chance/seeded-random.js';
import type { ServiceProcess } from '../system/service-process.js';
import type { Fault } from './fault.js';

/**
 * The last running process of its kind, and a process that has just started, are mostly spared: where starting is slow,
 * nothing would be left to break otherwise.
 */
const SPARED_SHARE = 0.8;
const YOUNG_MS = 3000;
/** A paused process is mostly spared too, so that it resumes. */
const SPARED_PAUSED_SHARE = 0.9;

/**
 * Every three seconds a running process is killed, or told to stop; its supervisor starts it again when it has ended.
 */
export function killProcesses(): Fault {
  let signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL';
  return {
    everyMs: 3000,
    async inject({ services }, random) {
      const mayBeHit = (service: ServiceProcess): boolean =>
        service.isPaused
          ? // A paused process gets SIGTERM only when it resumes, so its time to stop would be wrong.
            signal === 'SIGKILL' && random() >= SPARED_PAUSED_SHARE
          : random() >= SPARED_SHARE || !isSpared(service, services);
      const victims = services.filter((service) => service.isReady && mayBeHit(service));
      if (victims.length === 0) return undefined;
      const victim = pick(random, victims);
      const done = { fault: signal, detail: victim.name, services: [victim.name] };
      if (signal === 'SIGKILL') victim.kill();
      else victim.requestStop();
      // The signals alternate, so that even a short run has both.
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
