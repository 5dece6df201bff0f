import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedProcess } from '../../world/processes/supervisor.js';
import type { ChaosOptions, RunContext } from '../command/options.js';
import type { HeavyOperation } from './heavy-operation.js';
import { endOf, readProbe } from './measured-process.js';
import { Neighbour } from './neighbour.js';
import { OPERATIONS } from './operations.js';
import { judge, type Measured, table, turnOf } from './report.js';
import { fillShop } from './shop.js';
import { openWeightSystem, type WeightSystem } from './system.js';

/** All operations at once are measured this many times longer. */
const MIXTURE_TIMES = 3;
const EVENTS_WITHIN_MS = 60_000;
const HEAVY_PRIORITY = 10;
const LINGERS_MS = 10_000;
const ALONE_TIMES = 5;

/** Measures the load that one account and one address, within all limits, can put on a process and on others. */
export async function runWeight(
  { seconds, mixture, only }: ChaosOptions,
  { folder, parts, print }: RunContext,
): Promise<string[]> {
  print('Starting a web and a worker process with a heap of 256 MiB, and two merchants …\n');
  const system = await openWeightSystem(folder, parts);
  const neighbour = parts.keep(await Neighbour.open(system.url, system.neighbourKey));
  // The load generator would run on another machine: here it yields to the processes that it loads.
  setPriority(HEAVY_PRIORITY);
  await sleep(1000 * Math.min(seconds, 3)); // Warm-up: modules that load on first use are loaded.
  const measured = [await measure(system, neighbour, { name: 'nothing', operations: [], seconds })];
  const operations = OPERATIONS.filter(
    ({ name }) => only.length === 0 || only.some((part) => name.includes(part)),
  );
  await fillShop(system);
  for (const operation of operations) {
    await operation.prepare?.(system);
    if (mixture) continue;
    print(`${operation.name} …\n`);
    await operation.begin?.(system);
    measured.push(
      await measure(system, neighbour, { name: operation.name, operations: [operation], seconds }),
    );
  }
  const all = {
    name: 'all at once',
    operations,
    seconds: seconds * (mixture ? 1 : MIXTURE_TIMES),
    isLast: true,
  };
  if (only.length === 0) {
    print(`${all.name} …\n`);
    if (mixture) for (const operation of operations) await operation.begin?.(system);
    measured.push(await measure(system, neighbour, all));
  }
  neighbour.rest();
  let { awaited } = await neighbour.report();
  for (let waited = 0; awaited > 0 && waited < EVENTS_WITHIN_MS; waited += 200) {
    await sleep(200);
    awaited = (await neighbour.report()).awaited;
  }
  const { broken, slow } = judge(measured, awaited);
  // The last requests of the load were in flight until the events had come.
  for (const { name, ended } of await readAll(system.processes))
    if (ended !== undefined) broken.push(`${name} ended after the last load, ${ended}`);
  print(table(measured));
  if (broken.length > 0) print(`BROKEN:\n${broken.join('\n')}\n\n`);
  if (slow.length > 0) print(`TOO SLOW:\n${slow.join('\n')}\n\n`);
  if (broken.length + slow.length === 0) print('No limit was exceeded.\n');
  return [...broken, ...slow];
}

interface Trial {
  name: string;
  operations: readonly HeavyOperation[];
  seconds: number;
  /** Nothing is measured after the last trial. */
  isLast?: boolean;
}

async function measure(system: WeightSystem, neighbour: Neighbour, trial: Trial): Promise<Measured> {
  const { name, operations, seconds, isLast = false } = trial;
  const turnAloneMs = await measureAlone(system, operations);
  await readAll(system.processes);
  await neighbour.report();
  const answers = new Map<string, number>();
  const asked = system.rpc.total;
  const endsAt = performance.now() + seconds * 1000;
  const loops = operations.flatMap((operation) =>
    Array.from({ length: operation.connections }, async (_, connection) => {
      for (let n = connection; performance.now() < endsAt; n += operation.connections) {
        const reply = await operation.once(system, n);
        if (reply === undefined) return;
        answers.set(String(reply.status), (answers.get(String(reply.status)) ?? 0) + 1);
      }
    }),
  );
  await sleep(seconds * 1000);
  const seen = { chainCalls: system.rpc.total - asked, readings: await readAll(system.processes) };
  const { latencies, refused } = await neighbour.report();
  const measured = { name, seconds, turnAloneMs, answers, ...seen, latencies, refused };
  // Requests still in flight must not count for the next operation.
  if (!isLast) await Promise.race([Promise.all(loops), sleep(LINGERS_MS)]);
  return measured;
}

/** How long a turn of the event loop takes with one operation and no others: the median of several. */
async function measureAlone(
  system: WeightSystem,
  [operation, ...others]: readonly HeavyOperation[],
): Promise<number | undefined> {
  const [web] = system.processes;
  if (operation === undefined || others.length > 0 || operation.connections === 1) return undefined;
  const turns: number[] = [];
  for (let n = 0; n < ALONE_TIMES; n += 1) {
    await readProbe(web);
    await operation.once(system, n);
    const reading = await readProbe(web);
    turns.push(reading === undefined ? Number.NaN : turnOf(reading));
  }
  return turns.sort((a, b) => a - b)[Math.floor(ALONE_TIMES / 2)];
}

async function readAll(processes: readonly StartedProcess[]): Promise<Measured['readings']> {
  return await Promise.all(
    processes.map(async (one) => ({
      name: one.name,
      ended: await endOf(one),
      reading: await readProbe(one),
    })),
  );
}
