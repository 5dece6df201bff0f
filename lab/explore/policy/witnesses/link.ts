import { sightsOf } from './checks.js';
import { CLOCKS, stateOf, timesBy } from './inputs.js';
import { isPromoted, type Play, type Steps } from './play.js';
import { contradiction } from './statements.js';
import {
  type Attempt,
  CLAIMED,
  FRESH,
  type PayableKind,
  payableOf,
  type Row,
  type World,
  withPayable,
  withRow,
} from './world.js';

/** Buyers pay at the link of a session or of its refund, with new payloads and with payloads that they have sent. */
export function* paySteps(world: World, play: Play): Steps {
  for (const of of ['session', 'refund'] as const) {
    if (of === 'refund' && world.refund === null) continue;
    const { status, isOver, unsigned } = payableOf(world, of);
    if (status !== 'open' || isOver) continue;
    if (unsigned > 0) {
      const attempts = [...world.attempts, { of, fact: FRESH, row: CLAIMED, kept: null }];
      const signed = withPayable({ ...world, attempts }, of, {
        status: 'processing',
        unsigned: unsigned - 1,
      });
      yield { what: `a new payload claims the ${of}`, world: signed, isHonest: true };
    }
    for (const [index, attempt] of world.attempts.entries())
      if (attempt.of === of && (attempt.row === null || attempt.row.isReleased))
        yield* payAgainSteps(world, index, attempt, play);
  }
}

/** Postgres has no payment of this payload, or a payment that surely never reached the facilitator. */
function* payAgainSteps(world: World, index: number, attempt: Attempt, play: Play): Steps {
  const { of, fact } = attempt;
  const { rules, scope } = play;
  const mayBeLost = rules.commitsMayBeLost(isPromoted(world));
  const what = `the same payload comes to the ${of} again`;
  const { validUntil } = stateOf({ ...attempt, row: CLAIMED });
  for (const clocks of scope.faults === 'all' ? CLOCKS : CLOCKS.slice(0, 1)) {
    if (!rules.isWindowOver(validUntil, timesBy(clocks))) continue;
    const late = `${what} after its time, ${clocks}`;
    if (mayBeLost) yield* checkBeforeSteps(world, index, { what: late, saysUsed: false, play });
    else yield { what: late, world, isHonest: false, broken: contradiction(fact, 'nothing') };
  }
  if (fact.isOver) return;
  yield {
    what: `${what}, and /verify says valid`,
    world: claimed(world, index, of, 'settle'),
    isHonest: false,
  };
  for (const saysUsed of [true, false]) {
    const refused = `${what}, and /verify says ${saysUsed ? 'used' : 'refused'}`;
    if (rules.checksBeforeRefusal(saysUsed, mayBeLost))
      yield* checkBeforeSteps(world, index, { what: refused, saysUsed, play });
    else yield { what: refused, world, isHonest: false, broken: contradiction(fact, 'nothing') };
  }
}

interface Refusal {
  what: string;
  saysUsed: boolean;
  play: Play;
}

function* checkBeforeSteps(world: World, index: number, { what, saysUsed, play }: Refusal): Steps {
  const attempt = world.attempts[index];
  if (attempt === undefined) return;
  const mayBeLost = play.rules.commitsMayBeLost(isPromoted(world));
  for (const { by, finding, isHonest } of sightsOf(attempt.fact, play.scope, 0)) {
    const found = play.rules.refusalAfterCheck(finding, saysUsed, mayBeLost);
    const seen = `${what}; ${by} says ${finding.kind}`;
    if (found === 'paid')
      yield { what: `${seen}: claimed`, world: claimed(world, index, attempt.of, 'confirm'), isHonest };
    else
      yield {
        what: `${seen}: told ${found}`,
        world,
        isHonest,
        broken: found === 'nothing' ? contradiction(attempt.fact, found) : undefined,
      };
  }
}

function claimed(world: World, index: number, of: PayableKind, stage: Row['stage']): World {
  const row: Row = { ...CLAIMED, stage, isUnclear: stage === 'confirm' };
  return withPayable(withRow(world, index, row), of, { status: 'processing' });
}
