import fc, { type Arbitrary } from 'fast-check';
import { honestWork, type Step } from '../steps/steps.js';
import { drawStep } from './draw-steps.js';
import {
  badCheck,
  check,
  refuses,
  refusesFalsely,
  refusesWhatIsUsed,
  settle,
  unclear,
  unclearForLong,
} from './fault-arbitraries.js';

/** Starting steps of trials, because random steps seldom reach the rare states. */
const pays = (payload: number, meanwhile: Step[] = []): Step => ({
  do: 'pay',
  session: 0,
  payload,
  verify: 'honest',
  meanwhile,
});

const sent: Arbitrary<Step[]> = fc.constant([pays(0)]);

const refused: Arbitrary<Step[]> = fc
  .oneof(refusesFalsely, refusesWhatIsUsed)
  .map((mode) => [pays(0, [{ ...honestWork(0), settle: mode }]), pays(1)]);

const unclearOutcome: Arbitrary<Step[]> = fc
  .tuple(unclear, settle)
  .map(([first, second]) => [
    pays(0),
    { ...honestWork(0), settle: first },
    { ...honestWork(0), settle: second },
  ]);

/** A worker stalls in its call until other workers have its row. */
const stalled: Arbitrary<Step[]> = fc
  .tuple(fc.oneof(refuses, settle), fc.constantFrom(65, 310), fc.oneof(unclear, settle))
  .map(([first, seconds, second]) => {
    const others = [honestWork(0), { ...honestWork(0), settle: second }];
    return [pays(0), { ...honestWork(0), settle: first, meanwhile: [{ do: 'pass', seconds }, ...others] }];
  });

/** Consecutive checks say the same until the authorization has ended, and perhaps for a day. */
const longDoubt: Arbitrary<Step[]> = fc
  .tuple(unclear, badCheck, fc.boolean(), badCheck, fc.boolean())
  .map(([mode, seen, halts, later, lasts]) => [
    pays(0),
    ...(halts ? [{ do: 'halt chain' } as const] : []),
    { ...honestWork(0), settle: mode },
    { ...honestWork(0), settle: mode, check: seen, verify: 'down', when: 'late', times: 8 },
    ...(lasts
      ? [{ do: 'silent day' } as const, { ...honestWork(0), check: later, verify: 'down' as const }]
      : []),
  ]);

/** The payment uses up its calls. Then nothing happens for as long as needed, except for one odd check. */
const farAhead: Arbitrary<Step[]> = fc
  .tuple(fc.oneof(unclear, unclearForLong), check)
  .map(([mode, seen]) => [
    pays(0),
    { ...honestWork(0), settle: mode, times: 16 },
    { do: 'pass', seconds: 905 },
    honestWork(0),
    { ...honestWork(0), check: seen, verify: 'down' },
    honestWork(0),
  ]);

export interface Opening {
  validSeconds: Arbitrary<number>;
  steps: Arbitrary<Step[]>;
}

const anyTime = fc.constantFrom(300, 60, 30, 1500);
const shortTime = fc.constantFrom(300, 60, 30);

export const openings: readonly { weight: number; opening: Opening }[] = [
  { weight: 2, opening: { validSeconds: anyTime, steps: fc.array(drawStep(0), { maxLength: 2 }) } },
  { weight: 4, opening: { validSeconds: anyTime, steps: sent } },
  { weight: 2, opening: { validSeconds: anyTime, steps: refused } },
  { weight: 2, opening: { validSeconds: anyTime, steps: unclearOutcome } },
  { weight: 2, opening: { validSeconds: anyTime, steps: stalled } },
  { weight: 3, opening: { validSeconds: shortTime, steps: longDoubt } },
  { weight: 2, opening: { validSeconds: fc.constant(1500), steps: farAhead } },
];
