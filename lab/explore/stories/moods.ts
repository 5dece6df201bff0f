import fc, { type Arbitrary } from 'fast-check';
import type { Crash, Deed, LookMood, SettleMood, VerifyMood } from '../steps.js';
import { CLEAR_REFUSALS, DOUBTFUL_REFUSALS, UNCLEAR_REPLIES } from '../world/words.js';

/** How everyone outside does. What comes first is what a failing story is made of, if it still fails then. */
const LANDS_AFTER_SECONDS = [0, 0, 3, 20, 45, 100, 280, 700, 1000];

const sent: Arbitrary<Deed> = fc
  .constantFrom(...LANDS_AFTER_SECONDS)
  .map((afterSeconds): Deed => ({ sends: true, afterSeconds }));
const deed: Arbitrary<Deed> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Deed>({ sends: false }) },
  { weight: 2, arbitrary: sent },
);

export const refuses = refusing(deed);
/** Its transaction is on its way. */
export const refusesFalsely = refusing(sent);
export const refusesDoubtfully = refusingDoubtfully(deed);
/** It has moved the money when it says so. */
export const refusesWhatIsUsed = refusingDoubtfully(fc.constant<Deed>({ sends: true, afterSeconds: 0 }));
export const unclear = beingUnclear(deed);
/** Its transaction waits for longer than anybody else does. */
export const unclearForLong = beingUnclear(fc.constant<Deed>({ sends: true, afterSeconds: 1200 }));
const turnsAway: Arbitrary<SettleMood> = fc
  .constantFrom<Extract<SettleMood, { kind: 'turned away' }>['by'][]>('ECONNREFUSED', 401, 403, 429)
  .map((by) => ({ kind: 'turned away', by }));
const turnsAwayWithWords: Arbitrary<SettleMood> = fc
  .record({
    status: fc.constantFrom<(401 | 403 | 429)[]>(401, 403, 429),
    words: fc.constantFrom('transaction', 'pending'),
    deed,
  })
  .map((mood) => ({ kind: 'turned away with words', ...mood }));

export const settle: Arbitrary<SettleMood> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<SettleMood>({ kind: 'honest' }) },
  { weight: 3, arbitrary: refuses },
  { weight: 2, arbitrary: refusesDoubtfully },
  { weight: 5, arbitrary: unclear },
  { weight: 2, arbitrary: turnsAway },
  { weight: 2, arbitrary: turnsAwayWithWords },
);

export const badLook: Arbitrary<LookMood> = fc.constantFrom(
  'silent',
  'head only',
  'used only',
  'searching',
  'behind',
  'far behind',
);
export const look: Arbitrary<LookMood> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<LookMood>('honest') },
  { weight: 3, arbitrary: badLook },
);

export const verify: Arbitrary<VerifyMood> = fc.constantFrom('honest', 'says valid', 'refuses', 'down');

export const mostlyValid: Arbitrary<VerifyMood> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<VerifyMood>('honest') },
  { weight: 1, arbitrary: fc.constantFrom<VerifyMood[]>('says valid', 'down') },
);

export const crash: Arbitrary<Crash> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Crash>('none') },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Crash[]>(
      'in the call',
      'before the write',
      'after the write',
      'write lost',
      'write lost but done',
    ),
  },
);

function refusing(done: Arbitrary<Deed>): Arbitrary<SettleMood> {
  return fc
    .record({ reason: fc.constantFrom(...CLEAR_REFUSALS), deed: done })
    .map((mood) => ({ kind: 'refuses', ...mood }));
}

function refusingDoubtfully(done: Arbitrary<Deed>): Arbitrary<SettleMood> {
  return fc
    .record({ reason: fc.constantFrom(...DOUBTFUL_REFUSALS), deed: done })
    .map((mood) => ({ kind: 'refuses doubtfully', ...mood }));
}

function beingUnclear(done: Arbitrary<Deed>): Arbitrary<SettleMood> {
  return fc
    .record({ reply: fc.constantFrom(...UNCLEAR_REPLIES), deed: done })
    .map((mood) => ({ kind: 'unclear', ...mood }));
}
