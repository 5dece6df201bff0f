import { hearingLost } from './answering.js';
import { calling } from './calling.js';
import { checking } from './checking.js';
import { passing, reorganising } from './passing.js';
import { resolving, visiting } from './session-steps.js';
import { type Play, type Steps, sceneOf } from './step.js';
import type { World } from './world.js';

/** All possible next steps. */
export function* stepsFrom(world: World, play: Play): Steps {
  for (const [id] of world.payments.entries()) {
    const scene = sceneOf(world, id, play);
    yield* calling(scene);
    yield* hearingLost(scene);
    yield* checking(scene);
    yield* resolving(scene);
  }
  yield* visiting(world, play);
  yield* reorganising(world, play);
  yield* passing(world, play);
}
