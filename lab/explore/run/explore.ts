import fc from 'fast-check';
import { check } from '../check/check.js';
import { applyMutant, type Mutant, removeMutants } from '../mutants/mutants.js';
import { play } from '../play/play.js';
import { recover } from '../play/recover.js';
import type { Step, Trial } from '../steps/steps.js';
import type { System } from '../system/system.js';
import { anyTrial } from '../trials/trials.js';
import { holdTime } from '../world/time.js';
import { openWorld, type World } from '../world/world.js';
import { describeTrial } from './describe.js';

interface Exploring {
  trials: number;
  seed: number;
  /** No trial starts after this time; a running one is completed. */
  withinMs?: number;
  mutant?: Mutant;
  /** The position of a failing trial, which fast-check calls its path. */
  path?: string;
  /** Stops at the first failing trial, without shrinking it. */
  stopsAtFirst?: boolean;
}

export interface Explored {
  trials: number;
  counts: Map<string, number>;
  /** The violations, with the trial's steps. */
  failure: string | undefined;
}

/** Runs trials until one breaks an invariant, and reports the smallest that does. */
export async function explore(system: System, exploring: Exploring): Promise<Explored> {
  const { trials, seed, withinMs, mutant, path, stopsAtFirst = false } = exploring;
  const counts = new Map<string, number>();
  const endsAtMs = withinMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + withinMs;
  let played = 0;
  if (mutant !== undefined) await applyMutant(system.db, mutant);
  try {
    const property = fc.asyncProperty(anyTrial, async (trial) => {
      if (performance.now() >= endsAtMs) return;
      played += 1;
      const { world, violations } = await playTrial(system, trial, mutant);
      count(counts, world, trial);
      if (violations.length > 0) throw new Error(violations.join('\n'));
    });
    const details = await fc.check(property, {
      numRuns: trials,
      seed,
      endOnFailure: stopsAtFirst,
      ...(path !== undefined && { path }),
    });
    const failure = details.failed ? describe(details, seed) : undefined;
    return { trials: played, counts, failure };
  } finally {
    if (mutant !== undefined) await removeMutants(system.db);
  }
}

async function playTrial(
  system: System,
  { setup, steps }: Trial,
  mutant: Mutant | undefined,
): Promise<{ world: World; violations: string[] }> {
  const restoreClock = holdTime();
  try {
    const world = await openWorld(system, setup);
    const playing = { depth: 0, mutant };
    await play(world, steps, playing);
    await recover(world, playing);
    return { world, violations: await check(world) };
  } finally {
    restoreClock();
  }
}

function describe(details: fc.RunDetails<[Trial]>, seed: number): string {
  const [trial] = details.counterexample ?? [];
  const { errorInstance } = details;
  const words =
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : 'interrupted';
  return [
    `EXPLORE_SEED=${seed}, path ${details.counterexamplePath}, shrunk ${details.numShrinks} times`,
    trial === undefined ? '' : describeTrial(trial),
    words,
  ].join('\n');
}

function* withInner(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    if ('stalled' in step) yield* withInner(step.stalled);
    if ('meanwhile' in step) yield* withInner(step.meanwhile);
  }
}

function count(
  counts: Map<string, number>,
  { steps, journal, chain, payments, linkAnswers }: World,
  trial: Trial,
): void {
  const add = (what: string, times: number): void => void counts.set(what, (counts.get(what) ?? 0) + times);
  add('steps', steps);
  for (const step of withInner(trial.steps)) add(`step: ${step.do}`, 1);
  add('runs of handlers', journal.runs.length);
  add('calls of /settle', journal.calls.length);
  add('chain checks', journal.checks.length);
  add('movements of money', chain.movements().length);
  add('payments', payments.length);
  add('surplus', payments.filter(({ surplus }) => surplus).length);
  add('failed, then paid', payments.filter((one) => one.failedAt && one.status === 'succeeded').length);
  for (const { finding } of journal.checks) add(`chain check: ${finding.kind}`, 1);
  for (const { meaning } of journal.calls) add(`/settle: ${meaning ?? 'cut off'}`, 1);
  for (const [words, times] of linkAnswers) add(`link: ${words}`, times);
}
