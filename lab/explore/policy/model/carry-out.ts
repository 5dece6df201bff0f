import type { PaymentStatus } from '../../../../shared/payments/states.js';
import type { Decision } from '../../../../shared/settlement/policy/decision.js';
import type { AfterFailure, AfterSuccess } from '../../../../shared/settlement/policy/session-after.js';
import { dateAt, tickOf } from '../setting/ticks.js';
import { uncertain } from './certainty.js';
import { type Cause, excuseOf } from './excuses.js';
import { heldOf, holdingOf } from './policy-inputs.js';
import type { Scene } from './step.js';
import { canMove, canMoveAnew, entry, type Payment, type Session, type World, withPayment } from './world.js';

/** The effect of a decision on the world, and the invariant that it breaks. */
export interface CarriedOut {
  readonly world: World;
  readonly became: string;
  readonly rows: readonly string[];
  readonly broken?: string | undefined;
}

export function carryOut(scene: Scene, decision: Decision, cause: Cause): CarriedOut {
  const { world, became, rows, broken } = carriedOut(scene, decision, cause);
  return {
    world,
    became,
    rows: decision.row === undefined ? rows : [decision.row, ...rows],
    broken: broken ?? uncertain(decision),
  };
}

function carriedOut(scene: Scene, decision: Decision, cause: Cause): CarriedOut {
  const { world, id, payment } = scene;
  switch (decision.kind) {
    case 'succeed':
      return succeed(scene);
    case 'fail':
      return fail(scene, decision, cause);
    case 'stop_watching': {
      const stopped = { ...payment, worker: null, stage: null, due: null };
      return { world: withPayment(world, id, stopped), became: decision.kind, rows: [] };
    }
    case 'settle_again':
    case 'check_again': {
      const postponed = postponedPayment(payment, decision, cause);
      return { world: withPayment(world, id, postponed), became: decision.kind, rows: [] };
    }
  }
}

/** Lists every value, since most steps write such a payment: a copy with changes takes longer. */
function postponedPayment(
  payment: Payment,
  decision: Extract<Decision, { kind: 'settle_again' | 'check_again' }>,
  cause: Cause,
): Payment {
  const { patch } = decision;
  const isWatched = payment.status === 'failed';
  return {
    payload: payment.payload,
    status: payment.status,
    stage: decision.kind === 'settle_again' ? 'settle' : isWatched ? 'watch' : 'confirm',
    due: dueAfter(decision.at, cause),
    failed: payment.failed,
    isSurplus: payment.isSurplus,
    isReleased: payment.isReleased,
    unreadableSince: patchedTick(payment.unreadableSince, patch.unreadableSince),
    worker: null,
    lost: payment.lost,
    settleCalls: 'notSent' in decision ? payment.settleCalls - 1 : payment.settleCalls,
    settleUnclear: patch.settleUnclear ?? payment.settleUnclear,
    isReported: payment.isReported || patch.reportedTransaction !== undefined,
    isRefusalRecorded:
      patch.failureCode === undefined ? payment.isRefusalRecorded : patch.failureCode !== null,
    isUsedSeen: patch.usedSeenAt === undefined ? payment.isUsedSeen : patch.usedSeenAt !== null,
    unusedSeen: patchedTick(payment.unusedSeen, patch.unusedSeenAt),
    asked: payment.asked,
    ended: patchedTick(payment.ended, patch.settleEndedAt),
    seen: payment.seen,
  };
}

/** In production, pauses after unreadable checks double; here all are as short as the first. */
function dueAfter(at: Date, cause: Cause): number {
  const isSilent = cause.by === 'check' && cause.finding.kind === 'unreadable';
  return isSilent ? Math.min(tickOf(at), 1) : tickOf(at);
}

function patchedTick(before: number | null, patch: Date | null | undefined): number | null {
  return patch === undefined ? before : patch && tickOf(patch);
}

function succeed(scene: Scene): CarriedOut {
  const { world, id, payment, payload, policy, setting } = scene;
  const { session } = world;
  const holder = session.paymentId === null ? undefined : entry(world.payments, session.paymentId);
  const provesAnotherPayment = session.status === 'processing' && session.paymentId !== id;
  const placed = policy.afterSuccess({
    session: heldOf(session),
    paymentId: String(id),
    holding: provesAnotherPayment && holder ? holdingOf(holder) : undefined,
    commitsMayBeLost: setting.forgets,
  });
  const paid = withPayment(world, id, decidedPayment(payment, 'succeeded', null));
  const hasMoved = payload.use?.by === 'payment';
  return {
    world: place(paid, id, placed),
    became: `succeed: ${placed.kind}${'surplusPaymentId' in placed && placed.surplusPaymentId !== null ? ', another is surplus' : ''}`,
    rows: [placed.row],
    broken: hasMoved ? brokenByGivingWay(world, placed) : 'called paid, and no money has moved',
  };
}

function place(world: World, id: number, placed: AfterSuccess): World {
  const { session } = world;
  switch (placed.kind) {
    case 'surplus':
      return withSurplus(world, id);
    case 'keep_as_late':
      return { ...world, session: { ...session, latePaymentId: id } };
    case 'complete_instead': {
      const holder = session.paymentId ?? id;
      const failed = failedPayment(entry(world.payments, holder), null);
      return complete(withPayment(world, holder, failed), id);
    }
    case 'complete': {
      const completed = complete(world, id);
      return placed.surplusPaymentId === null
        ? completed
        : withSurplus(completed, Number(placed.surplusPaymentId));
    }
  }
}

/** A payment that gives way is not watched any more. */
function brokenByGivingWay(world: World, { kind }: AfterSuccess): string | undefined {
  const { paymentId } = world.session;
  if (kind !== 'complete_instead' || paymentId === null) return undefined;
  const payload = entry(world.payloads, entry(world.payments, paymentId).payload);
  return canMove(world, payload) ? 'a payment gave way whose money can move' : undefined;
}

function fail(
  { world, id, payment, payload, policy, setting }: Scene,
  { code, released, watchAt }: Extract<Decision, { kind: 'fail' }>,
  cause: Cause,
): CarriedOut {
  // An operator may call it failed before its block has its confirmations, with an option of the command.
  const canStillMove =
    cause.by === 'operator' ? canMove(world, payload) : canMoveAnew(world, payload, setting);
  const excuse = canStillMove ? excuseOf(payload, code, cause, setting) : 'its money cannot move';
  const isWronglyReleased = released && (payload.isOutcomeUnclear || canMove(world, payload));
  const next = policy.afterFailure(heldOf(world.session), String(id), dateAt(0));
  const due = watchAt === undefined ? null : dueAfter(watchAt, cause);
  const failed = withPayment(world, id, { ...failedPayment(payment, due), isReleased: released });
  return {
    world: { ...failed, session: sessionAfter(world.session, next) },
    became: `fail: ${released ? 'released' : (excuse ?? 'no excuse')}: ${next.kind}`,
    rows: [next.row],
    broken:
      excuse === undefined
        ? 'called failed, and its money can move'
        : isWronglyReleased
          ? 'released, though the facilitator may have taken it'
          : undefined,
  };
}

function sessionAfter(session: Session, next: AfterFailure): Session {
  switch (next.kind) {
    case 'leave':
      return session;
    case 'complete_with_late':
      return { ...session, status: 'complete', paymentId: Number(next.latePaymentId) };
    case 'reopen':
      return { ...session, status: 'open', paymentId: null };
    case 'expire':
      return { ...session, status: 'expired', paymentId: null };
  }
}

function failedPayment(payment: Payment, due: number | null): Payment {
  return { ...decidedPayment(payment, 'failed', due), failed: 'lately' };
}

function decidedPayment(payment: Payment, status: PaymentStatus, due: number | null): Payment {
  const stage = due === null ? null : 'watch';
  return { ...payment, status, stage, due, worker: null, isUsedSeen: false, isRefusalRecorded: false };
}

function complete(world: World, id: number): World {
  return { ...world, session: { ...world.session, status: 'complete', paymentId: id } };
}

function withSurplus(world: World, id: number): World {
  return withPayment(world, id, { ...entry(world.payments, id), isSurplus: true });
}
