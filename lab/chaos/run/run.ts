import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../../shared/process/clock.js';
import { seededRandom } from '../../world/chance/seeded-random.js';
import { awaitQuiescence } from '../check/await-quiescence.js';
import type { ChaosOptions, RunContext } from '../command/options.js';
import { breakStores, repairConnections } from '../faults/break-stores.js';
import { addSteadyEndpoint, changeEndpoints } from '../faults/change-endpoints.js';
import { degradeEndpoints } from '../faults/degrade-endpoints.js';
import { expireSessions } from '../faults/expire-sessions.js';
import { type Fault, repeatFault } from '../faults/fault.js';
import { freezeLast, freezeLinks } from '../faults/freeze-links.js';
import { killProcesses } from '../faults/kill-processes.js';
import { pauseForLong, pauseProcesses } from '../faults/pause-processes.js';
import { promoteStandbys } from '../faults/promote-standbys.js';
import { setClocksRight, stepClocks } from '../faults/step-clocks.js';
import { openSystem } from '../system/system.js';
import { Books } from './books.js';
import { report } from './report.js';

/** Faults continue this long after the last purchase has begun. */
const AFTER_LAST_BEGAN_MS = 15_000;
const AFTER_SOLD_MS = 15_000;

/** A run: agents pay while faults are injected, everything recovers, and the checks compare all records. */
export async function runChaos(options: ChaosOptions, context: RunContext): Promise<string[]> {
  const { seed, minutes, failovers, clocks } = options;
  const { print } = context;
  print(
    `Chaos with seed ${seed}: starting two web and two worker processes, Postgres, Redis and the actors …\n`,
  );
  const system = await openSystem(options, context);
  const describeSteadyEndpoint = await addSteadyEndpoint(system, seededRandom(seed));
  const begun = system.buyers.waitFor('begun');
  const sold = system.buyers.waitFor('sold');
  for (const promise of [begun, sold]) promise.catch(() => undefined);

  print('Agents pay while faults are injected …\n');
  const startedAt = nowMs();
  system.buyers.order('begin');
  const stops = allFaults({ failovers, clocks }).map((fault, index) =>
    repeatFault(system, seededRandom(seed * 31 + index), fault),
  );
  const timeIsUp = new AbortController();
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: timeIsUp.signal }).catch(() => undefined);
  await Promise.race([begun.then(() => pause(AFTER_LAST_BEGAN_MS)), pause(minutes * 60_000)]);
  timeIsUp.abort();
  system.buyers.order('close');
  await Promise.all(stops.map((stop) => stop()));
  if (clocks) await setClocksRight(system);
  await freezeLast(system, seededRandom(seed + 1), describeSteadyEndpoint);
  const chaosMs = nowMs() - startedAt;

  print(`Recovery after ${Math.round(chaosMs / 1000)} s …\n`);
  await repairConnections(system);
  for (const actor of [system.facilitator, system.receiver]) actor.order('recover');
  await Promise.all(system.services.map((service) => service.ready()));
  const books = new Books(system, new Date(startedAt));
  // The runbook asks for it after a failover. What buyers have sent by then has landed, or never will.
  if (failovers)
    await sold
      .then(() => sleep(AFTER_SOLD_MS))
      .then(
        () => books.repair(),
        () => undefined,
      );
  const verdict = await awaitQuiescence(system, sold, books.listed);
  for (const chain of Object.values(system.chains)) chain.order('endLimit');
  verdict.violations.push(...(await books.check(verdict.evidence)));
  print(report(options, verdict, system.journals.facilitator.read(), chaosMs));
  return verdict.violations;
}

/** The faults run independently of each other. */
function allFaults({ failovers, clocks }: Pick<ChaosOptions, 'failovers' | 'clocks'>): Fault[] {
  return [
    ...(failovers ? [promoteStandbys()] : []),
    ...(clocks ? [stepClocks()] : []),
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
