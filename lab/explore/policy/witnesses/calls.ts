import type { SettleVerdict } from '../../../../shared/x402/facilitator/settle-verdict.js';
import { DOUBTFUL_REFUSAL, ENDED, REFUSED, SETTLED } from '../model/facilitator.js';
import { ANOTHER_PAYER } from '../model/policy-inputs.js';
import { at } from '../setting/ticks.js';
import { CLOCKS, SETTINGS, stateOf, timesBy } from './inputs.js';
import { continued, isPromoted, type Scene, type Steps } from './play.js';
import { canMove, type Fact, withFact, withRow } from './world.js';
import { carryOut } from './write.js';

/** A worker takes a payment that is to be settled, and calls the facilitator. */
export function* callSteps(scene: Scene): Steps {
  const { attempt, rules, world, scope } = scene;
  if (attempt.row.stage !== 'settle') return;
  const { calls, hasEnded, isUnclear } = attempt.row;
  const taken = continued(
    scene,
    withRow(world, scene.index, {
      ...attempt.row,
      stage: 'confirm',
      calls: Math.min(calls + 1, 3),
      isUnclear: isUnclear || (calls > 0 && !hasEnded),
      hasEnded: false,
    }),
  );
  for (const clocks of scope.faults === 'all' ? CLOCKS : CLOCKS.slice(0, 1)) {
    const mayBeLost = rules.commitsMayBeLost(isPromoted(world));
    const tooLate = rules.beforeCall(stateOf(taken.attempt), mayBeLost, timesBy(clocks));
    if (tooLate === undefined) continue;
    const { became, ...written } = carryOut(taken, tooLate);
    yield { what: `${clocks}: too late to call: ${became}`, ...written, isHonest: clocks === CLOCKS[0] };
    if (clocks === CLOCKS[0]) return;
  }
  for (const [what, fact] of effectsOf(attempt.fact)) {
    const called = continued(taken, withFact(taken.world, scene.index, fact));
    yield {
      what: `${what}; the worker is killed`,
      world: withFact(called.world, scene.index, { ...fact, isCalled: true }),
      isHonest: false,
    };
    yield* answerSteps(called, what, fact !== attempt.fact);
  }
}

/** A call has no effect, sends a transaction, or moves the money at once. */
function effectsOf(fact: Fact): [string, Fact][] {
  const nothing: [string, Fact] = ['/settle does nothing', fact];
  if (fact.use !== null || fact.isOver) return [nothing];
  return [
    nothing,
    ['/settle sends a transaction', { ...fact, isSent: true }],
    ['/settle moves the money', { ...fact, isSent: true, use: 'payment' }],
  ];
}

interface Answer {
  readonly answer: SettleVerdict;
  readonly isHonest: boolean;
  /** The facilitator says that nothing was sent, and its word counts. */
  readonly isLie?: boolean;
}

const DOUBTED: readonly Answer[] = [
  { answer: ENDED, isHonest: false },
  { answer: { ...ENDED, mayStillRun: true }, isHonest: false },
  { answer: { ...SETTLED, payer: ANOTHER_PAYER }, isHonest: false },
];
const WITHOUT_EFFECT: readonly Answer[] = [
  { answer: { kind: 'not_processed', why: 'turned away' }, isHonest: true },
  { answer: { kind: 'postponed', why: 'no turn', forMs: 0 }, isHonest: false },
];

function answersTo({ fact }: Scene['attempt'], hasEffect: boolean): Answer[] {
  const answers: Answer[] = [
    { answer: REFUSED, isHonest: !canMove(fact), isLie: canMove(fact) },
    // The words that a used authorization gets too are no lie unless this call has sent it.
    { answer: DOUBTFUL_REFUSAL, isHonest: fact.use !== null, isLie: hasEffect },
    ...DOUBTED,
  ];
  if (fact.use === 'payment') answers.push({ answer: SETTLED, isHonest: true });
  if (!hasEffect) answers.push(...WITHOUT_EFFECT);
  return answers;
}

function* answerSteps(scene: Scene, what: string, hasEffect: boolean): Steps {
  const { attempt, world, index, rules } = scene;
  for (const { answer, isHonest, isLie = false } of answersTo(attempt, hasEffect)) {
    if (isLie && (world.lies === 0 || attempt.fact.isLiedAbout)) continue;
    const isCalled = 'mayStillRun' in answer && answer.mayStillRun;
    const fact = {
      ...attempt.fact,
      isCalled: attempt.fact.isCalled || isCalled,
      isLiedAbout: attempt.fact.isLiedAbout || isLie,
    };
    const heard = continued(scene, {
      ...withFact(world, index, fact),
      lies: isLie ? world.lies - 1 : world.lies,
    });
    const decision = rules.afterCall(
      stateOf(heard.attempt),
      {
        answer,
        startedAt: at(-1),
        endedAt: at(0),
        commitsMayBeLost: rules.commitsMayBeLost(isPromoted(world)),
      },
      SETTINGS,
      timesBy('both are right'),
    );
    const { became, world: next, rows, broken } = carryOut(heard, decision);
    const words = `${answer.kind}${'mayMeanUsed' in answer && answer.mayMeanUsed ? ', as of a used one' : ''}`;
    const said = `${what} and says ${words}${isLie ? ', a lie' : ''}: ${became}`;
    yield { what: said, world: next, rows, broken, isHonest };
  }
}
