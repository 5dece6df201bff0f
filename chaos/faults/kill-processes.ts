import { pick, type Random } from '../../test/support/seeded-random.js';
import type { ServiceProcess } from '../stage/service-process.js';
import type { Fault } from './fault.js';

/** The last of its kind is mostly spared: where starting takes long, nothing would be left to break otherwise. */
const LAST_ONE_SHARE = 0.2;

/** SIGKILL, every two seconds, to one that is up; its supervisor starts it again. */
export const killProcesses: Fault = {
  everyMs: 2000,
  async strike({ services }, random) {
    const victims = services.filter((service) => service.isReady && mayDie(service, services, random));
    if (victims.length === 0) return undefined;
    const victim = pick(random, victims);
    victim.kill();
    return { fault: 'SIGKILL', detail: victim.name };
  },
};

function mayDie(service: ServiceProcess, services: readonly ServiceProcess[], random: Random): boolean {
  const isLast = !services.some((other) => other !== service && other.kind === service.kind && other.isReady);
  return !isLast || random() < LAST_ONE_SHARE;
}
