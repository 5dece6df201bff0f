import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { ACTS, type HeavyAct } from './acts.js';
import { Neighbour } from './neighbour.js';
import { judge, type Measured, table } from './report.js';
import { openWeightStage, type WeightStage } from './stage.js';
import type { WeighedProcess } from './weighed-process.js';

export interface WeightOptions {
  /** How long each act is measured. */
  seconds: number;
  /** Only everything at once. */
  mixture: boolean;
  print(text: string): void;
  folder: string;
  opened(part: { stop(): Promise<void> }): void;
}

/** At the end, everything at once is measured for so much longer. */
const MIXTURE_TIMES = 3;
const EVENTS_WITHIN_MS = 60_000;
const HEAVY_PRIORITY = 10;
const LINGERS_MS = 10_000;
const ALONE_TIMES = 5;

/** What one account and one address can do to a process and to others, by everything that the limits allow. */
export async function runWeight({ seconds, mixture, print, ...around }: WeightOptions): Promise<string[]> {
  print('Starting a web and a worker process with a heap of 256 MiB, and two merchants …\n');
  const stage = await openWeightStage(around);
  const neighbour = await Neighbour.open(stage.url, stage.neighbourKey);
  around.opened(neighbour);
  // Whoever is heavy works elsewhere: here it gives way to what it weighs upon.
  setPriority(HEAVY_PRIORITY);
  await sleep(1000 * Math.min(seconds, 3)); // Everything that is loaded late is loaded.
  const measured = [await measure(stage, neighbour, { name: 'nothing', acts: [], seconds })];
  for (const act of ACTS) {
    await act.prepare?.(stage);
    if (mixture) continue;
    print(`${act.name} …\n`);
    measured.push(await measure(stage, neighbour, { name: act.name, acts: [act], seconds }));
  }
  const all = { name: 'all of it at once', acts: ACTS, seconds: seconds * (mixture ? 1 : MIXTURE_TIMES) };
  print(`${all.name} …\n`);
  measured.push(await measure(stage, neighbour, all));
  neighbour.rest();
  let { awaited } = await neighbour.report();
  for (let waited = 0; awaited > 0 && waited < EVENTS_WITHIN_MS; waited += 200) {
    await sleep(200);
    awaited = (await neighbour.report()).awaited;
  }
  const { broken, slow } = judge(measured, awaited);
  print(table(measured));
  if (broken.length > 0) print(`BROKEN:\n${broken.join('\n')}\n\n`);
  if (slow.length > 0) print(`TOO SLOW:\n${slow.join('\n')}\n\n`);
  if (broken.length + slow.length === 0) print('Nobody was too heavy.\n');
  return [...broken, ...slow];
}

interface Trial {
  name: string;
  acts: readonly HeavyAct[];
  seconds: number;
}

async function measure(stage: WeightStage, neighbour: Neighbour, trial: Trial): Promise<Measured> {
  const { name, acts, seconds } = trial;
  const heldAlone = await weighAlone(stage, acts);
  await readAll(stage.processes);
  await neighbour.report();
  const answers = new Map<string, number>();
  const asked = stage.rpc.calls();
  const endsAt = performance.now() + seconds * 1000;
  const loops = acts.flatMap((act) =>
    Array.from({ length: act.connections }, async (_, connection) => {
      for (let n = connection; performance.now() < endsAt; n += act.connections) {
        const told = await act.once(stage, n);
        if (told === undefined) return;
        answers.set(String(told.status), (answers.get(String(told.status)) ?? 0) + 1);
      }
    }),
  );
  await sleep(seconds * 1000);
  const seen = { chainCalls: stage.rpc.calls() - asked, readings: await readAll(stage.processes) };
  const { felt, refused } = await neighbour.report();
  const measured = { name, heldAlone, answers, ...seen, felt, refused };
  // What is still on its way is not the next one's weight.
  await Promise.race([Promise.all(loops), sleep(LINGERS_MS)]);
  return measured;
}

/** For how long one of it, with nobody beside it but the neighbour, holds the event loop: the median of some. */
async function weighAlone(
  stage: WeightStage,
  [act, ...others]: readonly HeavyAct[],
): Promise<number | undefined> {
  const [web] = stage.processes;
  if (act === undefined || others.length > 0 || act.connections === 1) return undefined;
  const held: number[] = [];
  for (let n = 0; n < ALONE_TIMES; n += 1) {
    await web?.read();
    await act.once(stage, n);
    held.push((await web?.read())?.heldMs ?? Number.NaN);
  }
  return held.sort((a, b) => a - b)[Math.floor(ALONE_TIMES / 2)];
}

async function readAll(processes: readonly WeighedProcess[]): Promise<Measured['readings']> {
  return await Promise.all(
    processes.map(async (one) => ({ name: one.name, ended: one.ended, reading: await one.read() })),
  );
}
