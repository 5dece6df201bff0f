import { type Explored, searchWhole } from '../breadth-first/search.js';
import { firstWorld } from '../model/first-world.js';
import { stepsFrom } from '../model/steps.js';
import { POLICY, type Policy } from '../setting/policy.js';
import type { Setting } from '../setting/setting.js';
import { decodeWorld } from './decode-world.js';
import { encodeWorld } from './encode-world.js';
import { brokenInvariant, isEnd, needsOperator } from './invariants.js';

export function explore(setting: Setting, policy: Policy = POLICY): Explored {
  return searchWhole({
    first: firstWorld(setting),
    begins: 'a payment claims the session',
    stepsFrom: (world) => stepsFrom(world, { policy, setting }),
    encode: (world) => encodeWorld(world, setting),
    decode: decodeWorld,
    broken: brokenInvariant,
    isEnd: (world) => isEnd(world) || (!setting.explains && needsOperator(world)),
    stuck: 'only an operator leads to an end from here',
  });
}
