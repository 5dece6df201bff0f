import fc, { type Arbitrary } from 'fast-check';
import { honestWork, type Step } from '../steps.js';
import { drawStep } from './draw-steps.js';
import {
  badLook,
  look,
  refuses,
  refusesFalsely,
  refusesWhatIsUsed,
  settle,
  unclear,
  unclearForLong,
} from './moods.js';

/** How stories begin, so that most of them get somewhere: chance alone seldom comes to the rare states. */
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
  .map((mood) => [pays(0, [{ ...honestWork(0), settle: mood }]), pays(1)]);

const unclearOutcome: Arbitrary<Step[]> = fc
  .tuple(unclear, settle)
  .map(([first, second]) => [
    pays(0),
    { ...honestWork(0), settle: first },
    { ...honestWork(0), settle: second },
  ]);

/** A worker stands still in its call until others have its row. */
const stalled: Arbitrary<Step[]> = fc
  .tuple(fc.oneof(refuses, settle), fc.constantFrom(65, 310), fc.oneof(unclear, settle))
  .map(([first, seconds, second]) => {
    const others = [honestWork(0), { ...honestWork(0), settle: second }];
    return [pays(0), { ...honestWork(0), settle: first, meanwhile: [{ do: 'pass', seconds }, ...others] }];
  });

/** One look after the other says the same until the authorization has ended. */
const longDoubt: Arbitrary<Step[]> = fc
  .tuple(unclear, badLook, fc.boolean())
  .map(([mood, seen, halts]) => [
    pays(0),
    ...(halts ? [{ do: 'halt chain' } as const] : []),
    { ...honestWork(0), settle: mood },
    { ...honestWork(0), settle: mood, look: seen, verify: 'down', when: 'late', times: 8 },
  ]);

/** As often as it may be settled, and then nothing happens for as long as it takes, but for one odd look. */
const farAhead: Arbitrary<Step[]> = fc
  .tuple(fc.oneof(unclear, unclearForLong), look)
  .map(([mood, seen]) => [
    pays(0),
    { ...honestWork(0), settle: mood, times: 16 },
    { do: 'pass', seconds: 905 },
    honestWork(0),
    { ...honestWork(0), look: seen, verify: 'down' },
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
