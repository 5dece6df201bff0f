import { lostAnswerSteps } from './answer-steps.js';
import { callSteps } from './call-steps.js';
import { checkSteps } from './check-steps.js';
import { operatorSteps, sessionSteps } from './session-steps.js';
import { type Play, type Steps, sceneOf } from './step.js';
import { reorganisationSteps, timeSteps } from './time-steps.js';
import type { World } from './world.js';

/** All possible next steps. */
export function* stepsFrom(world: World, play: Play): Steps {
  for (const [id] of world.payments.entries()) {
    const scene = sceneOf(world, id, play);
    yield* callSteps(scene);
    yield* lostAnswerSteps(scene);
    yield* checkSteps(scene);
    yield* operatorSteps(scene);
  }
  yield* sessionSteps(world, play);
  yield* reorganisationSteps(world, play);
  yield* timeSteps(world, play);
}
