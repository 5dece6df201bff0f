import { type Explored, type Model, searchWhole } from '../breadth-first/search.js';
import { callSteps } from './calls.js';
import { decode, encode } from './canonical.js';
import { checkSteps } from './checks.js';
import { paySteps } from './link.js';
import { failoverSteps, operatorSteps, outsideSteps } from './outside.js';
import { type Play, type Steps, sceneOf } from './play.js';
import { RULES_OF_ALL } from './rules.js';
import type { Scope } from './scopes.js';
import { type Attempt, CLAIMED, canMove, FRESH, type PayableKind, type World } from './world.js';

/** Explores the wide model: every order of statements that are false, late, forgotten or contradict each other. */
export function exploreWitnesses(scope: Scope, rules = RULES_OF_ALL): Explored {
  const play = { scope, rules };
  const model: Model<World> = {
    first: firstWorld(scope),
    begins: 'a payment claims the session',
    stepsFrom: (world) => stepsFrom(world, play),
    encode,
    decode,
    broken,
    isEnd,
    stuck: 'honest witnesses alone lead to no end at which all money is told',
  };
  return searchWhole(model);
}

function firstWorld({ payments, lies }: Scope): World {
  return {
    session: { status: 'processing', isOver: false, unsigned: payments - 1, kept: null },
    refund: null,
    attempts: [{ of: 'session', fact: FRESH, row: CLAIMED, kept: null }],
    standby: 'follows',
    lies,
  };
}

function* stepsFrom(world: World, play: Play): Steps {
  for (const index of world.attempts.keys()) {
    const scene = sceneOf(world, index, play);
    if (scene === undefined) continue;
    yield* callSteps(scene);
    yield* checkSteps(scene);
    yield* operatorSteps(scene);
  }
  yield* paySteps(world, play);
  yield* outsideSteps(world, play);
  yield* failoverSteps(world, play);
}

function broken(world: World): string | undefined {
  return brokenOf(world, 'session') ?? (world.refund === null ? undefined : brokenOf(world, 'refund'));
}

/** A session in processing is held by one payment, and a complete session was paid by one. */
function brokenOf(world: World, of: PayableKind): string | undefined {
  const status = (of === 'session' ? world.session : world.refund)?.status;
  const rows = world.attempts.flatMap((one) => (one.of === of && one.row !== null ? [one.row] : []));
  const open = rows.filter((row) => row.status === 'processing');
  const counted = rows.filter((row) => row.status === 'succeeded' && !row.isSurplus);
  const late = counted.filter(({ role }) => role === 'late');
  if (status === 'processing' ? open.length !== 1 || open[0]?.role !== 'holds' : open.length > 0)
    return `the ${of} is ${status}, and ${open.length} payments are open`;
  const isRight =
    status === 'complete'
      ? counted.length === 1 && counted[0]?.role === 'holds'
      : counted.length === late.length && late.length <= (status === 'processing' ? 1 : 0);
  return isRight ? undefined : `the ${of} is ${status}, and ${counted.length} payments have paid it`;
}

/**
 * No work is due, no money can move any more, and each movement of money is a payment, or is listed with its refund gone.
 */
function isEnd(world: World): boolean {
  const { session, refund, attempts, standby } = world;
  if (standby === 'stopped' || session.status === 'processing' || refund?.status === 'processing')
    return false;
  return attempts.every((one) => isTold(one, world));
}

function isTold({ of, fact, row }: Attempt, { refund }: World): boolean {
  if (row !== null && row.stage !== null) return false;
  if (!canMove(fact)) return true;
  return fact.use === 'payment' && (row?.status === 'succeeded' || (of === 'refund' && refund === null));
}
