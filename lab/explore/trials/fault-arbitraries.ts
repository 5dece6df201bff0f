import fc, { type Arbitrary } from 'fast-check';
import { CLEAR_REFUSALS, DOUBTFUL_REFUSALS, UNCLEAR_REPLIES } from '../steps/replies.js';
import type { CheckFaultMode, Crash, Effect, SettleFaultMode, VerifyFaultMode } from '../steps/steps.js';

/** Draws the behaviours of outside parties. fast-check shrinks towards the first of each list. */
const LANDS_AFTER_SECONDS = [0, 0, 3, 20, 45, 100, 280, 700, 1000];

const sent: Arbitrary<Effect> = fc
  .constantFrom(...LANDS_AFTER_SECONDS)
  .map((afterSeconds): Effect => ({ sends: true, afterSeconds }));
const effect: Arbitrary<Effect> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Effect>({ sends: false }) },
  { weight: 2, arbitrary: sent },
);

export const refuses = refusing(effect);
/** A refusal of a payment whose transaction has been sent. */
export const refusesFalsely = refusing(sent);
const refusesDoubtfully = refusingDoubtfully(effect);
/** The facilitator moves the money at the moment of its answer. */
export const refusesWhatIsUsed = refusingDoubtfully(fc.constant<Effect>({ sends: true, afterSeconds: 0 }));
export const unclear = beingUnclear(effect);
/** An unclear answer about a transaction that stays pending for longer than any other wait. */
export const unclearForLong = beingUnclear(fc.constant<Effect>({ sends: true, afterSeconds: 1200 }));
const turnsAway: Arbitrary<SettleFaultMode> = fc
  .constantFrom<Extract<SettleFaultMode, { kind: 'turned away' }>['by'][]>('ECONNREFUSED', 401, 403, 429)
  .map((by) => ({ kind: 'turned away', by }));
const turnsAwayWithWords: Arbitrary<SettleFaultMode> = fc
  .record({
    status: fc.constantFrom<(401 | 403 | 429)[]>(401, 403, 429),
    words: fc.constantFrom('transaction', 'pending'),
    effect,
  })
  .map((mode) => ({ kind: 'turned away with words', ...mode }));

export const settle: Arbitrary<SettleFaultMode> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<SettleFaultMode>({ kind: 'honest' }) },
  { weight: 3, arbitrary: refuses },
  { weight: 2, arbitrary: refusesDoubtfully },
  { weight: 5, arbitrary: unclear },
  { weight: 2, arbitrary: turnsAway },
  { weight: 2, arbitrary: turnsAwayWithWords },
);

export const badCheck: Arbitrary<CheckFaultMode> = fc.constantFrom(
  'silent',
  'head only',
  'used only',
  'searching',
  'behind',
  'far behind',
);
export const check: Arbitrary<CheckFaultMode> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<CheckFaultMode>('honest') },
  { weight: 3, arbitrary: badCheck },
);

export const verify: Arbitrary<VerifyFaultMode> = fc.constantFrom('honest', 'says valid', 'refuses', 'down');

export const mostlyValid: Arbitrary<VerifyFaultMode> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<VerifyFaultMode>('honest') },
  { weight: 1, arbitrary: fc.constantFrom<VerifyFaultMode[]>('says valid', 'down') },
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

function refusing(done: Arbitrary<Effect>): Arbitrary<SettleFaultMode> {
  return fc
    .record({ reason: fc.constantFrom(...CLEAR_REFUSALS), effect: done })
    .map((mode) => ({ kind: 'refuses', ...mode }));
}

function refusingDoubtfully(done: Arbitrary<Effect>): Arbitrary<SettleFaultMode> {
  return fc
    .record({ reason: fc.constantFrom(...DOUBTFUL_REFUSALS), effect: done })
    .map((mode) => ({ kind: 'refuses doubtfully', ...mode }));
}

function beingUnclear(done: Arbitrary<Effect>): Arbitrary<SettleFaultMode> {
  return fc
    .record({ reply: fc.constantFrom(...UNCLEAR_REPLIES), effect: done })
    .map((mode) => ({ kind: 'unclear', ...mode }));
}
