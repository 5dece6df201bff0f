import { OUTCOME_UNKNOWN } from '../../../../shared/payments/states.js';
import type { Decision, Patch } from '../../../../shared/settlement/policy/decision.js';
import type { AfterFailure } from '../../../../shared/settlement/policy/session-after.js';
import { uncertain } from '../model/certainty.js';
import { at } from '../setting/ticks.js';
import { heldOf, holdingOf } from './inputs.js';
import { isPromoted, type Scene } from './play.js';
import { contradiction } from './statements.js';
import {
  canMove,
  indexOfRole,
  type PayableKind,
  type Row,
  type World,
  withColumns,
  withPayable,
  withRow,
} from './world.js';

/** The world after a decision, what its buyers were told, and the promise that it breaks. */
export interface Written {
  readonly world: World;
  readonly became: string;
  readonly rows: readonly string[];
  readonly broken: string | undefined;
}

export function carryOut(scene: Scene, decision: Decision): Written {
  const { row } = decision;
  const { world, became, rows, broken } = carriedOut(scene, decision);
  return {
    world,
    became,
    rows: row === undefined ? rows : [row, ...rows],
    broken: broken ?? uncertain(decision),
  };
}

function carriedOut(scene: Scene, decision: Decision): Written {
  const { world, index, attempt } = scene;
  switch (decision.kind) {
    case 'succeed':
      return succeed(scene);
    case 'fail':
      return fail(scene, decision);
    case 'stop_watching':
      return waiting(withColumns(world, index, { stage: null }), decision.kind);
    case 'settle_again':
    case 'check_again': {
      const isWatched = attempt.row.status === 'failed';
      const stage = decision.kind === 'settle_again' ? 'settle' : isWatched ? 'watch' : 'confirm';
      const calls = 'notSent' in decision ? attempt.row.calls - 1 : attempt.row.calls;
      return waiting(
        withRow(world, index, { ...patched(attempt.row, decision.patch), stage, calls }),
        decision.kind,
      );
    }
  }
}

function waiting(world: World, became: string): Written {
  return { world, became, rows: [], broken: undefined };
}

function patched(row: Row, patch: Patch): Row {
  return {
    ...row,
    hasEnded: row.hasEnded || patch.settleEndedAt !== undefined,
    isUnclear: patch.settleUnclear ?? row.isUnclear,
    isReported: row.isReported || patch.reportedTransaction !== undefined,
    isRefused: patch.failureCode === undefined ? row.isRefused : patch.failureCode !== null,
    isUsedSeen: patch.usedSeenAt === undefined ? row.isUsedSeen : patch.usedSeenAt !== null,
  };
}

export function succeed(scene: Scene): Written {
  const { world, index, attempt, rules } = scene;
  const { of } = attempt;
  const holder = indexOfRole(world, of, 'holds');
  const holding = holder === undefined || holder === index ? null : world.attempts[holder]?.row;
  const placed = rules.afterSuccess({
    session: heldOf(world, of),
    paymentId: String(index),
    holding: holding ? holdingOf(holding) : undefined,
    commitsMayBeLost: rules.commitsMayBeLost(isPromoted(world)),
  });
  const paid = withColumns(world, index, { status: 'succeeded', stage: null });
  const broken = contradiction(attempt.fact, 'paid');
  const became = `succeed: ${placed.kind}`;
  const rows = [placed.row];
  switch (placed.kind) {
    case 'surplus':
      return { world: withColumns(paid, index, { isSurplus: true, role: null }), became, rows, broken };
    case 'keep_as_late':
      return { world: withColumns(paid, index, { role: 'late' }), became, rows, broken };
    case 'complete_instead': {
      const gaveWay = holder === undefined ? undefined : brokenByGivingWay(world, holder);
      const failed = failedRow(paid, holder, { isWatched: false });
      return { world: complete(failed, of, index), became, rows, broken: broken ?? gaveWay };
    }
    case 'complete': {
      const surplus = placed.surplusPaymentId === null ? undefined : Number(placed.surplusPaymentId);
      const others =
        surplus === undefined ? paid : withColumns(paid, surplus, { isSurplus: true, role: null });
      return { world: complete(others, of, index), became, rows, broken };
    }
  }
}

/** The buyer of the payment that gives way is told that the session was paid by another payment, and not by this one. */
function brokenByGivingWay({ attempts }: World, holder: number): string | undefined {
  const fact = attempts[holder]?.fact;
  return fact && contradiction(fact, 'nothing');
}

function failedRow(world: World, index: number | undefined, { isWatched }: { isWatched: boolean }): World {
  if (index === undefined) return world;
  return withColumns(world, index, { status: 'failed', stage: isWatched ? 'watch' : null, role: null });
}

function complete(world: World, of: PayableKind, index: number): World {
  return withPayable(withColumns(world, index, { role: 'holds' }), of, { status: 'complete' });
}

function fail(scene: Scene, { code, released, watchAt }: Extract<Decision, { kind: 'fail' }>): Written {
  const { world, index, attempt, rules } = scene;
  const { of, fact } = attempt;
  const next = rules.afterFailure(heldOf(world, of), String(index), at(0));
  const failed = withColumns(failedRow(world, index, { isWatched: watchAt !== undefined }), index, {
    isReleased: released,
  });
  const told = code === OUTCOME_UNKNOWN ? 'uncertain' : 'nothing';
  const isTaken = released && canMove(fact);
  return {
    world: moved(failed, of, next),
    became: `fail: ${released ? 'released' : told}: ${next.kind}`,
    rows: [next.row],
    broken: contradiction(fact, told) ?? (isTaken ? 'released, though its money can move' : undefined),
  };
}

function moved(world: World, of: PayableKind, next: AfterFailure): World {
  switch (next.kind) {
    case 'leave':
      return world;
    case 'complete_with_late':
      return complete(world, of, Number(next.latePaymentId));
    case 'reopen':
      return withPayable(world, of, { status: 'open' });
    case 'expire':
      return withPayable(world, of, { status: 'expired' });
  }
}
