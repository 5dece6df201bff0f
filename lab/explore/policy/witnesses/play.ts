import type { ModelStep } from '../breadth-first/search.js';
import type { AllRules } from './rules.js';
import type { Breadth } from './settings.js';
import type { Attempt, Row, World } from './world.js';

export type Steps = Generator<ModelStep<World>>;

export interface Play {
  readonly rules: AllRules;
  readonly breadth: Breadth;
}

/** One payment that Postgres has, in its world. */
export interface Scene extends Play {
  readonly world: World;
  readonly index: number;
  readonly attempt: Attempt & { readonly row: Row };
}

export function sceneOf(world: World, index: number, play: Play): Scene | undefined {
  const { rules, breadth } = play;
  const attempt = world.attempts[index];
  return attempt !== undefined && hasRow(attempt) ? { rules, breadth, world, index, attempt } : undefined;
}

function hasRow(attempt: Attempt): attempt is Scene['attempt'] {
  return attempt.row !== null;
}

/** The scene after its world has changed. */
export function continued(scene: Scene, world: World): Scene {
  return sceneOf(world, scene.index, scene) ?? scene;
}

export function isPromoted({ standby }: World): boolean {
  return standby === 'promoted';
}
