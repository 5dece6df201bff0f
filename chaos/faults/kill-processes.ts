import { pick } from '../../test/support/seeded-random.js';
import type { ServiceProcess } from '../stage/service-process.js';
import type { Fault } from './fault.js';

/**
 * The last of its kind, and one that has only just come up, are mostly spared: where starting takes long, nothing would
 * be left to break otherwise.
 */
const SPARED_SHARE = 0.8;
const YOUNG_MS = 3000;
/** Every fourth is not killed but told to stop: however few there are time for, there are both. */
const TOLD_TO_STOP = 4;

let struck = 0;

/** Every two seconds one that is up is killed, or told to stop; its supervisor starts it again when it has gone. */
export const killProcesses: Fault = {
  everyMs: 2000,
  async strike({ services }, random) {
    const victims = services.filter(
      (service) => service.isReady && (random() >= SPARED_SHARE || !isSpared(service, services)),
    );
    if (victims.length === 0) return undefined;
    const victim = pick(random, victims);
    struck += 1;
    const signal = struck % TOLD_TO_STOP === 0 ? 'SIGTERM' : 'SIGKILL';
    if (signal === 'SIGKILL') victim.kill();
    else victim.tellToStop();
    return { fault: signal, detail: victim.name };
  },
};

function isSpared(service: ServiceProcess, services: readonly ServiceProcess[]): boolean {
  const hasAnother = services.some(
    (other) => other !== service && other.kind === service.kind && other.isReady,
  );
  return !hasAnother || service.readyForMs < YOUNG_MS;
}
