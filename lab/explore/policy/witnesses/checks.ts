import type { ChainFinding } from '../../../../shared/chains/check/finding.js';
import { TRANSACTION } from '../model/policy-inputs.js';
import { CLOCKS, type Clocks, PAID, SETTINGS, stateOf, timesBy, unused } from './inputs.js';
import { continued, isPromoted, type Scene, type Steps } from './play.js';
import type { Scope } from './scopes.js';
import { type Fact, withFact } from './world.js';
import { carryOut } from './write.js';

interface Sight {
  readonly by: string;
  readonly finding: ChainFinding;
  readonly isHonest: boolean;
  readonly isLie?: boolean;
  /** Every check of the last day could read nothing. */
  readonly isSilentForADay?: boolean;
}

const reason = '';

/**
 * The answer of one of two endpoints about a payload. Each check asks either of them: they contradict each other where one is
 * late, silent, limited, halted, or on a fork.
 */
export function sightsOf(fact: Fact, { faults }: Pick<Scope, 'faults'>, lies: number): Sight[] {
  const { use, isOver, isLiedAbout } = fact;
  const truth = use === null ? unused(isOver) : use === 'payment' ? PAID : SPENT;
  const sights: Sight[] = [{ by: 'an endpoint', finding: truth, isHonest: true }];
  if (lies > 0 && !isLiedAbout && use !== 'owner' && !(use === null && isOver))
    sights.push({ by: 'an endpoint on a fork', finding: unused(true), isHonest: false, isLie: true });
  if (faults === 'few') return [...sights, silence(false)];
  sights.push(
    silence(false),
    { by: 'a limited endpoint', finding: LIMITED, isHonest: false },
    { by: 'an endpoint in its search', finding: { kind: 'searching', reason }, isHonest: false },
    { by: 'a late endpoint', finding: unused(false), isHonest: false },
  );
  if (use !== null)
    sights.push({ by: 'an endpoint without logs', finding: { kind: 'used', reason }, isHonest: false });
  // By a clock that was set ahead, a silence has soon lasted a day.
  sights.push(silence(true), {
    by: 'a limited endpoint, after a day of silence',
    finding: LIMITED,
    isHonest: false,
    isSilentForADay: true,
  });
  return sights;
}

const LIMITED: ChainFinding = { kind: 'unreadable', reason, againInMs: 500 };
const SPENT: ChainFinding = { kind: 'spent_otherwise', transaction: TRANSACTION };

function silence(isSilentForADay: boolean): Sight {
  return {
    by: isSilentForADay ? 'a day of silence' : 'a silent endpoint',
    finding: { kind: 'unreadable', reason },
    isHonest: false,
    isSilentForADay,
  };
}

/** A worker checks the chain, and asks `/verify` where the policy says so. The last call has ended. */
export function* checkSteps(scene: Scene): Steps {
  const { attempt, world, index, scope } = scene;
  const { stage } = attempt.row;
  if ((stage !== 'confirm' && stage !== 'watch') || attempt.fact.isCalled) return;
  // A fork is short: the check two minutes later sees the chain.
  const lies = stage === 'watch' ? 0 : world.lies;
  for (const sight of sightsOf(attempt.fact, scope, lies)) {
    const fact = { ...attempt.fact, isLiedAbout: attempt.fact.isLiedAbout || sight.isLie === true };
    const heard = continued(scene, {
      ...withFact(world, index, fact),
      lies: sight.isLie ? world.lies - 1 : world.lies,
    });
    const isTimed = scope.faults === 'all' && !sight.isLie;
    for (const clocks of isTimed ? CLOCKS : CLOCKS.slice(0, 1)) yield* decideOnFinding(heard, sight, clocks);
  }
}

function* decideOnFinding(scene: Scene, sight: Sight, clocks: Clocks): Steps {
  const { attempt, rules } = scene;
  const state = stateOf(attempt, sight.isSilentForADay);
  const check = {
    finding: sight.finding,
    commitsMayBeLost: rules.commitsMayBeLost(isPromoted(scene.world)),
  };
  const times = timesBy(clocks);
  const isHonest = sight.isHonest && clocks === 'both are right';
  const what = `${clocks === 'both are right' ? '' : `${clocks}: `}${sight.by} says ${sight.finding.kind}`;
  const decision = rules.afterCheck(state, check, SETTINGS, times);
  if (decision.kind !== 'ask_verify') {
    const { became, world, rows, broken } = carryOut(scene, decision);
    const isUnasked = sight.finding === LIMITED && decision.kind === 'fail';
    const gaveUp = isUnasked ? 'given up by a check that was never made' : undefined;
    yield { what: `${what}: ${became}`, world, rows, broken: broken ?? gaveUp, isHonest };
    return;
  }
  for (const isValid of [true, false]) {
    const decided = rules.afterCheck(state, { isValid, ...check }, SETTINGS, times);
    if (decided.kind === 'ask_verify') continue;
    const { became, world, rows, broken } = carryOut(scene, decided);
    const words = isValid ? 'valid' : 'nothing of use';
    yield {
      what: `${what}, /verify ${words}: ${became}`,
      world,
      rows: [decision.row, ...rows],
      broken,
      isHonest: false,
    };
  }
}
