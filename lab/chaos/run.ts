import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from '../../shared/process/clock.js';
import { seededRandom } from '../world/chance/seeded-random.js';
import { awaitPeace } from './check/await-peace.js';
import { breakStores, mendConnections } from './faults/break-stores.js';
import { addSteadyEndpoint, changeEndpoints } from './faults/change-endpoints.js';
import { expireSessions } from './faults/expire-sessions.js';
import { type Fault, keepStriking } from './faults/fault.js';
import { freezeLinks, freezeOnceMore } from './faults/freeze-links.js';
import { killProcesses } from './faults/kill-processes.js';
import { pauseForLong, pauseProcesses } from './faults/pause-processes.js';
import { troubleEndpoints } from './faults/trouble-endpoints.js';
import type { ChaosOptions } from './options.js';
import { report } from './report.js';
import { openStage, type StageOptions } from './stage/stage.js';

type Surroundings = Pick<StageOptions, 'folder' | 'opened'> & { print(text: string): void };

/** The last purchases have their share of trouble. */
const AFTER_LAST_BEGAN_MS = 15_000;

/** One run: agents pay while everything goes wrong, everything heals, and the books are held against each other. */
export async function runChaos(options: ChaosOptions, { print, ...around }: Surroundings): Promise<string[]> {
  const { payments, seed, minutes, solana } = options;
  print(
    `Chaos with seed ${seed}: starting two web and two worker processes, Postgres, Redis and all who act on them …\n`,
  );
  const stage = await openStage({ payments, seed, solana, ...around });
  const describeSteadyEndpoint = await addSteadyEndpoint(stage, seededRandom(seed));
  const begun = stage.buyers.told('begun');
  const sold = stage.buyers.told('sold');
  for (const promise of [begun, sold]) promise.catch(() => undefined);

  print('Agents pay, and everything goes wrong …\n');
  const startedAt = nowMs();
  stage.buyers.order('begin');
  const stops = allFaults().map((fault, index) =>
    keepStriking(stage, seededRandom(seed * 31 + index), fault),
  );
  const timeIsUp = new AbortController();
  const pause = (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: timeIsUp.signal }).catch(() => undefined);
  await Promise.race([begun.then(() => pause(AFTER_LAST_BEGAN_MS)), pause(minutes * 60_000)]);
  timeIsUp.abort();
  stage.buyers.order('close');
  await Promise.all(stops.map((stop) => stop()));
  await freezeOnceMore(stage, seededRandom(seed + 1), describeSteadyEndpoint);
  const chaosMs = nowMs() - startedAt;

  print(`Everything heals after ${Math.round(chaosMs / 1000)} s …\n`);
  await mendConnections(stage);
  for (const actor of [stage.facilitator, stage.receiver]) actor.order('heal');
  await Promise.all(stage.services.map((service) => service.ready()));
  const verdict = await awaitPeace(stage, sold);
  print(report(options, verdict, stage.journals.facilitator.read(), chaosMs));
  return verdict.violations;
}

/** Each strikes for itself, whatever the others do meanwhile. */
function allFaults(): Fault[] {
  return [
    killProcesses(),
    pauseProcesses(),
    pauseForLong(),
    breakStores(),
    freezeLinks(['Postgres'], 1500),
    freezeLinks(['Redis'], 3000),
    freezeLinks(['the facilitator', 'the EVM chain', 'the Solana chain'], 2000),
    troubleEndpoints(),
    expireSessions,
    changeEndpoints(),
  ];
}
