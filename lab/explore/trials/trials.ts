import fc, { type Arbitrary } from 'fast-check';
import type { PayloadPlan, Trial } from '../steps/steps.js';
import { drawStep } from './draw-steps.js';
import { type Opening, openings } from './openings.js';

const MOST_STEPS = 9;

function payload(validSeconds: Arbitrary<number>): Arbitrary<PayloadPlan> {
  return fc.record({ buyer: fc.nat({ max: 1 }), validSeconds, named: fc.boolean() });
}

function trial({ validSeconds, steps }: Opening): Arbitrary<Trial> {
  const setup = fc.record({
    confirmations: fc.constantFrom(0, 0, 2),
    sessions: fc.constantFrom(1, 1, 2),
    payloads: fc.array(payload(validSeconds), { minLength: 2, maxLength: 3, size: 'max' }),
  });
  const others = fc.array(drawStep(0), { maxLength: MOST_STEPS, size: 'max' });
  return fc
    .tuple(setup, steps, others)
    .map(([settled, first, then]) => ({ setup: settled, steps: [...first, ...then] }));
}

/** fast-check's generator of trials. */
export const anyTrial: Arbitrary<Trial> = fc.oneof(
  ...openings.map(({ weight, opening }) => ({ weight, arbitrary: trial(opening) })),
);
