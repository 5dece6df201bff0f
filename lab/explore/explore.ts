import fc from 'fast-check';
import { check } from './check/check.js';
import { type Mistake, plant, uproot } from './mistakes.js';
import { heal } from './play/heal.js';
import { play } from './play/play.js';
import type { Stage } from './stage/stage.js';
import type { Story } from './steps.js';
import { stories } from './stories/stories.js';
import { tell } from './tell.js';
import { holdTime } from './world/time.js';
import { openWorld, type World } from './world/world.js';

export interface Exploring {
  trials: number;
  seed: number;
  /** No story is begun after it; the one that is played is played to its end. */
  withinMs?: number;
  mistake?: Mistake;
  /** Where a failing story was found: fast-check's word for it. */
  path?: string;
  /** The first failing story is good enough. */
  isHasty?: boolean;
}

export interface Explored {
  trials: number;
  counts: Map<string, number>;
  /** What was found, with its story. */
  failure: string | undefined;
}

/** Plays stories until one breaks a promise, and tells the smallest that does. */
export async function explore(stage: Stage, exploring: Exploring): Promise<Explored> {
  const { trials, seed, withinMs, mistake, path, isHasty = false } = exploring;
  const counts = new Map<string, number>();
  const endsAtMs = withinMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + withinMs;
  let played = 0;
  if (mistake !== undefined) await plant(stage.db, mistake);
  try {
    const property = fc.asyncProperty(stories, async (story) => {
      if (performance.now() >= endsAtMs) return;
      played += 1;
      const { world, violations } = await playStory(stage, story, mistake);
      count(counts, world);
      if (violations.length > 0) throw new Error(violations.join('\n'));
    });
    const details = await fc.check(property, {
      numRuns: trials,
      seed,
      endOnFailure: isHasty,
      ...(path !== undefined && { path }),
    });
    const failure = details.failed ? describe(details, seed) : undefined;
    return { trials: played, counts, failure };
  } finally {
    if (mistake !== undefined) await uproot(stage.db);
  }
}

async function playStory(
  stage: Stage,
  { setup, steps }: Story,
  mistake: Mistake | undefined,
): Promise<{ world: World; violations: string[] }> {
  const letGo = holdTime();
  try {
    const world = await openWorld(stage, setup);
    const playing = { depth: 0, mistake };
    await play(world, steps, playing);
    await heal(world, playing);
    return { world, violations: await check(world) };
  } finally {
    letGo();
  }
}

function describe(details: fc.RunDetails<[Story]>, seed: number): string {
  const [story] = details.counterexample ?? [];
  const { errorInstance } = details;
  const words =
    errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : 'interrupted';
  return [
    `EXPLORE_SEED=${seed}, path ${details.counterexamplePath}, made smaller ${details.numShrinks} times`,
    story === undefined ? '' : tell(story),
    words,
  ].join('\n');
}

function count(counts: Map<string, number>, { steps, journal, chain, payments, said }: World): void {
  const add = (what: string, times: number): void => void counts.set(what, (counts.get(what) ?? 0) + times);
  add('steps', steps);
  add('runs of handlers', journal.runs.length);
  add('calls of /settle', journal.calls.length);
  add('looks', journal.looks.length);
  add('movements of money', chain.movements().length);
  add('payments', payments.length);
  add('surplus', payments.filter(({ surplus }) => surplus).length);
  add('failed, then paid', payments.filter((one) => one.failedAt && one.status === 'succeeded').length);
  for (const { finding } of journal.looks) add(`look: ${finding.kind}`, 1);
  for (const { answered } of journal.calls) add(`/settle: ${answered ?? 'cut off'}`, 1);
  for (const [words, times] of said) add(`link: ${words}`, times);
}
