import type { ModelStep } from '../breadth-first/search.js';
import { sightsOf } from './checks.js';
import { CLOCKS, PAID, stateOf, timesBy, unused } from './inputs.js';
import { continued, isPromoted, type Play, type Scene, type Steps, sceneOf } from './play.js';
import { type Attempt, CLAIMED, FRESH, type World, withFact, withPayable, withRow } from './world.js';
import { carryOut, succeed } from './write.js';

function honestly(what: string, world: World): ModelStep<World> {
  return { what, world, isHonest: true };
}

/** Transactions land, calls end, and authorizations end. */
export function* outsideSteps(world: World, { scope }: Play): Steps {
  for (const [index, { fact, row }] of world.attempts.entries()) {
    const { use, isOver, isSent, isCalled } = fact;
    if (use === null && isSent)
      yield honestly(
        'a transaction lands',
        withFact(world, index, { ...fact, use: 'payment', isSent: false }),
      );
    if (use === null && isCalled)
      yield honestly(
        'a call that nobody waits for sends',
        withFact(world, index, { ...fact, isSent: true, isCalled: false }),
      );
    if (isCalled)
      yield honestly(
        'a call that nobody waits for ends',
        withFact(world, index, { ...fact, isCalled: false }),
      );
    if (use === null && !isOver && scope.ownerCancels && row?.stage != null)
      yield honestly(
        'its owner cancels the authorization',
        withFact(world, index, { ...fact, use: 'owner' }),
      );
    if (!isOver)
      yield honestly(
        'an authorization ends',
        withFact(world, index, { ...fact, isOver: true, isSent: false, isCalled: false }),
      );
  }
  for (const of of ['session', 'refund'] as const) {
    const payable = world[of];
    if (payable === null || payable.status === 'complete' || payable.status === 'expired') continue;
    if (!payable.isOver)
      yield {
        what: `the time of the ${of} ends`,
        world: withPayable(world, of, { isOver: true }),
        isHonest: true,
      };
    else if (payable.status === 'open')
      yield {
        what: `the ${of} expires`,
        world: withPayable(world, of, { status: 'expired' }),
        isHonest: true,
      };
  }
  if (world.refund === null && world.session.status === 'complete' && scope.refundPayments > 0) {
    const { refundPayments: unsigned } = scope;
    const refund = { status: 'open', isOver: false, unsigned, kept: null } as const;
    yield { what: 'a refund is asked for', world: { ...world, refund }, isHonest: false };
  }
}

/** A standby stops to follow, is promoted, and the books are held against the chain. */
export function* failoverSteps(world: World, play: Play): Steps {
  if (!play.scope.failsOver) return;
  const isWide = play.scope.forgets === 'anything';
  if (world.standby === 'follows')
    yield isWide
      ? { what: 'the standby is promoted', world: { ...world, standby: 'promoted' }, isHonest: false }
      : { what: 'the standby stops to follow', world: stopped(world), isHonest: false };
  if (world.standby === 'stopped') {
    yield { what: 'the standby is promoted', world: promoted(world), isHonest: true };
    return;
  }
  if (!isPromoted(world)) return;
  for (const [index, attempt] of world.attempts.entries()) yield* reconcileSteps(world, index, attempt, play);
  if (isWide) yield* forgottenSteps(world);
}

/** Steps of the lost commits, which no row tells of. Reaching their end by others is a promise, so they are not honest. */
function* forgottenSteps(world: World): Steps {
  for (const [index, { fact }] of world.attempts.entries()) {
    if (fact.use !== null || fact.isOver || fact.isSent) continue;
    const sent = withFact(world, index, { ...fact, isSent: true });
    yield { what: 'a call that Postgres has forgotten sends', world: sent, isHonest: false };
  }
  for (const of of ['session', 'refund'] as const) {
    const unsigned = world[of]?.unsigned ?? 0;
    if (unsigned === 0) continue;
    const attempts = [...world.attempts, { of, fact: FRESH, row: null, kept: null }];
    const signed = withPayable({ ...world, attempts }, of, { unsigned: unsigned - 1 });
    yield { what: 'a payload that Postgres has forgotten was signed', world: signed, isHonest: false };
  }
}

function stopped(world: World): World {
  const { session, refund } = world;
  return {
    ...world,
    session: { ...session, kept: session.status },
    refund: refund && { ...refund, kept: refund.status },
    attempts: world.attempts.map((one) => ({ ...one, kept: one.row })),
    standby: 'stopped',
  };
}

/** A refund that the standby does not have is gone, with every payment of it. */
function promoted(world: World): World {
  const { session, refund } = world;
  const back = { kept: null } as const;
  return {
    ...world,
    session: { ...session, status: session.kept ?? session.status, ...back },
    refund: refund?.kept == null ? null : { ...refund, status: refund.kept, ...back },
    attempts: world.attempts.map((one) => ({ ...one, row: one.kept, ...back })),
    standby: 'promoted',
  };
}

/** The runbook asks for it after a failover. Money of a refund that is gone is listed. */
function* reconcileSteps(world: World, index: number, { of, fact, row }: Attempt, play: Play): Steps {
  const finding = fact.use === 'payment' ? PAID : unused(fact.isOver);
  if (!play.rules.reconciles(finding) || row?.status === 'processing' || row?.status === 'succeeded') return;
  if (of === 'refund' && world.refund === null) return;
  const inserted = { ...CLAIMED, status: 'failed', stage: null, role: null } as const;
  const scene = sceneOf(withRow(world, index, row ?? inserted), index, play);
  if (scene === undefined) return;
  const { became, ...written } = succeed(scene);
  yield { what: `reconcile records a payment: ${became}`, ...written, isHonest: true };
}

/** An operator states an outcome. Without being forced, the command refuses an outcome that it cannot verify. */
export function* operatorSteps(scene: Scene): Steps {
  const { attempt, rules, world, index, scope } = scene;
  if (attempt.row.status !== 'processing') return;
  const state = stateOf(attempt);
  const isPaid = attempt.fact.use === 'payment';
  if (isPaid) {
    const paid = carryOut(
      scene,
      rules.byOperator(state, { kind: 'paid', transaction: '0x1' }, timesBy('both are right')),
    );
    yield { what: `an operator names the transaction: ${paid.became}`, ...paid, isHonest: false };
  }
  for (const clocks of scope.faults === 'all' ? CLOCKS : CLOCKS.slice(0, 1))
    for (const { by, finding } of sightsOf(attempt.fact, scope, 0))
      if (rules.mayCallFailed(state, finding, timesBy(clocks)))
        yield* failByOperatorSteps(scene, `${by} says ${finding.kind}, ${clocks}`);
  const { fact } = attempt;
  if (world.lies === 0 || fact.isLiedAbout) return;
  // While the authorization is good, a buyer is told that the outcome is unknown only by force.
  const forced = withFact(world, index, { ...fact, isLiedAbout: !fact.isOver });
  yield* failByOperatorSteps(continued(scene, { ...forced, lies: world.lies - 1 }), 'by force', true);
}

function* failByOperatorSteps(scene: Scene, how: string, unproven = false): Steps {
  const resolution = { kind: 'failed', reason: 'resolved', unproven } as const;
  const decision = scene.rules.byOperator(stateOf(scene.attempt), resolution, timesBy('both are right'));
  const { became, ...written } = carryOut(scene, decision);
  yield { what: `an operator says failed, ${how}: ${became}`, ...written, isHonest: false };
}
