import type { ModelStep } from '../breadth-first/search.js';
import type { AllRules } from './rules.js';
import type { Scope } from './scopes.js';
import type { Attempt, Row, World } from './world.js';

export type Steps = Generator<ModelStep<World>>;

export interface Play {
  readonly rules: AllRules;
  readonly scope: Scope;
}

/** One payment that Postgres has, in its world. */
export interface Scene extends Play {
  readonly world: World;
  readonly index: number;
  readonly attempt: Attempt & { readonly row: Row };
}

export function sceneOf(world: World, index: number, play: Play): Scene | undefined {
  const { rules, scope } = play;
  const attempt = world.attempts[index];
  return attempt !== undefined && hasRow(attempt) ? { rules, scope, world, index, attempt } : undefined;
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
