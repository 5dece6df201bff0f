import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import { awaitQuiescence } from '../check/await-quiescence.js';
import { breakStores, repairConnections } from '../faults/break-stores.js';
import { addSteadyEndpoint, changeEndpoints } from '../faults/change-endpoints.js';
import { degradeEndpoints } from '../faults/degrade-endpoints.js';
import { expireSessions } from '../faults/expire-sessions.js';
import { type Fault, repeatFault } from '../faults/fault.js';
import { freezeLast, freezeLinks } from '../faults/freeze-links.js';
import { killProcesses } from '../faults/kill-processes.js';
import { pauseForLong, pauseProcesses } from '../faults/pause-processes.js';
import { openSystem, type SystemOptions } from '../system/system.js';
import type { ChaosOptions } from './options.js';
import { report } from './report.js';

type RunContext = Pick<SystemOptions, 'folder' | 'opened'> & { print(text: string): void };

/** Faults continue this long after the last purchase has begun. */
const AFTER_LAST_BEGAN_MS = 15_000;

/** One run: agents pay while faults are injected, everything recovers, and the checks compare all records. */
export async function runChaos(options: ChaosOptions, { print, ...around }: RunContext): Promise<string[]> {
  const { payments, seed, minutes, solana } = options;
  print(
    `Chaos with seed ${seed}: starting two web and two worker processes, Postgres, Redis and the actors …\n`,
  );
  const system = await openSystem({ payments, seed, solana, ...around });
  const describeSteadyEndpoint = await addSteadyEndpoint(system, seededRandom(seed));
  const begun = system.buyers.waitFor('begun');
  const sold = system.buyers.waitFor('sold');
  for (const promise of [begun, sold]) promise.catch(() => undefined);

  print('Agents pay while faults are injected …\n');
  const startedAt = nowMs();
  system.buyers.order('begin');
  const stops = allFaults().map((fault, index) =>
    repeatFault(system, seededRandom(seed * 31 + index), fault),
  );
  const timeIsUp = new AbortController();
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: timeIsUp.signal }).catch(() => undefined);
  await Promise.race([begun.then(() => pause(AFTER_LAST_BEGAN_MS)), pause(minutes * 60_000)]);
  timeIsUp.abort();
  system.buyers.order('close');
  await Promise.all(stops.map((stop) => stop()));
  await freezeLast(system, seededRandom(seed + 1), describeSteadyEndpoint);
  const chaosMs = nowMs() - startedAt;

  print(`Recovery after ${Math.round(chaosMs / 1000)} s …\n`);
  await repairConnections(system);
  for (const actor of [system.facilitator, system.receiver]) actor.order('recover');
  await Promise.all(system.services.map((service) => service.ready()));
  const verdict = await awaitQuiescence(system, sold);
  print(report(options, verdict, system.journals.facilitator.read(), chaosMs));
  return verdict.violations;
}

/** The faults run independently of each other. */
function allFaults(): Fault[] {
  return [
    killProcesses(),
    pauseProcesses(),
    pauseForLong(),
    breakStores(),
    freezeLinks(['Postgres'], 1500),
    freezeLinks(['Redis'], 3000),
    freezeLinks(['the facilitator', 'the EVM chain', 'the Solana chain'], 2000),
    degradeEndpoints(),
    expireSessions,
    changeEndpoints(),
  ];
}
