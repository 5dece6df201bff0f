import fc, { type Arbitrary } from 'fast-check';
import type { Step, Work } from '../steps/steps.js';
import { check, crash, mostlyValid, settle, verify } from './fault-arbitraries.js';

const index = fc.nat({ max: 3 });
const nothing = fc.constant<Step[]>([]);

/** Calls are nested to this depth. */
const DEEPEST = 2;
const PAUSES_SECONDS = [1, 5, 15, 35, 65, 130, 310, 905];

const pass: Arbitrary<Step> = fc.record({
  do: fc.constant('pass'),
  seconds: fc.constantFrom(...PAUSES_SECONDS),
});

function drawWork(depth: number): Arbitrary<Work> {
  const inside = drawInside(depth);
  return fc.record({
    do: fc.constant('work'),
    payment: index,
    times: fc.constantFrom(1, 1, 1, 2, 4, 10),
    when: fc.constantFrom('due', 'due', 'due', 'late', 'now'),
    settle,
    check,
    isStale: fc.boolean(),
    verify,
    crash,
    stalled: fc.oneof({ weight: 8, arbitrary: nothing }, { weight: 1, arbitrary: inside }),
    meanwhile: fc.oneof({ weight: 4, arbitrary: nothing }, { weight: 1, arbitrary: inside }),
  });
}

function drawPay(depth: number): Arbitrary<Step> {
  return fc.record({
    do: fc.constant('pay'),
    session: index,
    payload: index,
    verify: mostlyValid,
    meanwhile: fc.oneof({ weight: 1, arbitrary: nothing }, { weight: 1, arbitrary: drawInside(depth) }),
  });
}

function drawInside(depth: number): Arbitrary<Step[]> {
  if (depth === DEEPEST) return nothing;
  return fc.array(drawStep(depth + 1), { minLength: 1, maxLength: 3, size: 'max' });
}

export function drawStep(depth: number): Arbitrary<Step> {
  return fc.oneof(
    { weight: 3, arbitrary: pass },
    { weight: 5, arbitrary: drawPay(depth) },
    { weight: 12, arbitrary: drawWork(depth) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('ask'), session: index }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('expire'), session: index }) },
    { weight: 1, arbitrary: fc.constantFrom<Step[]>({ do: 'halt chain' }, { do: 'resume chain' }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel'), payload: index }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('resolve'), payment: index }) },
  );
}
