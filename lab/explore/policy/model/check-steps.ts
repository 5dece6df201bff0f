import type { Decision } from '../../../../shared/settlement/policy/decision.js';
import type { ByRow } from '../../../../shared/settlement/policy/decision-table.js';
import { LONGEST_WAIT } from '../setting/ticks.js';
import { carryOut } from './carry-out.js';
import { observationsOf } from './endpoint.js';
import { findingOf, operatorSettingsOf, paymentStateOf, timesOf } from './policy-inputs.js';
import type { Scene, Step, Steps } from './step.js';
import { CALL_TICKS, type Checker, type Finding, type Payment, type Seen, withPayment } from './world.js';

/** A worker checks a payment on the chain, and asks `/verify` where the policy says so. */
export function* checkSteps(scene: Scene): Steps {
  const { world, id, payment } = scene;
  const { stage, due, worker } = payment;
  if ((stage === 'confirm' || stage === 'watch') && due !== null && due <= 0) yield* takeToCheckSteps(scene);
  if (worker?.kind !== 'checking') return;
  yield {
    what: 'a check is lost',
    world: withPayment(world, id, { ...payment, worker: null }),
    isHonest: false,
  };
  if (worker.since < 0) yield* decideOnFinding(scene, worker, false);
}

const LEASE_TICKS = 2;
/** A silence counts over consecutive checks: a check that is later than this starts it again. */
const LATE = -2;

function* takeToCheckSteps(scene: Scene): Steps {
  const { world, id, payment, payload, setting } = scene;
  const { due, worker, lost, seen, unreadableSince } = payment;
  const isLate = due !== null && due <= LATE;
  const taken: Payment = {
    ...payment,
    due: LEASE_TICKS,
    unreadableSince: null,
    worker: null,
    lost: worker === null || worker.kind === 'checking' ? lost : worker,
    seen: { ...seen, silentSince: null },
  };
  const next = { ...scene, world: withPayment(world, id, taken), payment: taken };
  yield { what: 'a check is lost', world: next.world, isHonest: false };
  for (const { finding, isWhole } of observationsOf(world.head, payload, setting)) {
    const checker: Checker = {
      kind: 'checking',
      since: 0,
      settleUnclear: payment.settleUnclear,
      isReported: payment.isReported,
      finding,
      unreadableSince: isLate ? null : unreadableSince,
      silentSince: isLate ? null : seen.silentSince,
    };
    yield* decideOnFinding(next, checker, isWhole);
    if (setting.stallsBefore === 'write') {
      const stalled = withPayment(world, id, { ...taken, worker: checker });
      yield { what: 'a worker stands still after its check', world: stalled, isHonest: false };
    }
  }
}

function* decideOnFinding(scene: Scene, checker: Checker, isWhole: boolean): Steps {
  const { payment, payload, policy, setting } = scene;
  const { finding, settleUnclear, isReported, unreadableSince, silentSince } = checker;
  const state = paymentStateOf({ ...payment, settleUnclear, isReported, unreadableSince }, payload);
  const check = { finding: findingOf(finding), commitsMayBeLost: setting.forgets };
  const seen = { ...payment.seen, silentSince };
  const decision = policy.afterCheck(state, check, operatorSettingsOf(setting), timesOf(setting));
  if (decision.kind !== 'ask_verify') {
    yield written(scene, { decision, checker, seen, isValid: undefined, isHonest: isWhole });
    return;
  }
  for (const isValid of [true, false]) {
    const decided = policy.afterCheck(
      state,
      { isValid, ...check },
      operatorSettingsOf(setting),
      timesOf(setting),
    );
    const isHonest = isWhole && isValid === (payload.use === null);
    if (decided.kind === 'ask_verify') continue;
    const step = written(scene, { decision: decided, checker, seen, isValid, isHonest });
    yield { ...step, rows: [decision.row, ...(step.rows ?? [])] };
  }
}

interface Writing {
  decision: ByRow<Decision>;
  checker: Checker;
  seen: Seen;
  isValid: boolean | undefined;
  isHonest: boolean;
}

function written(scene: Scene, { decision, checker: { finding }, seen, isValid, isHonest }: Writing): Step {
  const { payment, payload } = scene;
  const noting = { ...scene, payment: { ...payment, seen: seenAfter(scene, seen, finding) } };
  const { became, world, rows, broken } = carryOut(noting, decision, { by: 'check', finding, seen });
  const over = payload.callOver ?? CALL_TICKS;
  const isUnused = isValid === true || (finding.kind === 'unused' && finding.head > over);
  const isSentBlindly = decision.kind === 'settle_again' && !isUnused;
  const asked = isValid === undefined ? '' : `, /verify says ${isValid ? 'valid' : 'nothing of use'}`;
  const by = payment.status === 'failed' ? 'a check for late money' : 'a check';
  return {
    what: `${by} sees ${finding.kind}${asked}: ${became}`,
    world,
    isHonest,
    rows,
    broken: isSentBlindly ? 'sent again without evidence that it is unused' : broken,
  };
}

function seenAfter({ payload, setting }: Scene, before: Seen, finding: Finding): Seen {
  const { silentSince, unusedSince, isUsed } = before;
  const isSilent = finding.kind === 'unreadable';
  const over = payload.callOver ?? CALL_TICKS;
  const isLate = -setting.clockAhead >= over + LONGEST_WAIT;
  const counts = finding.kind === 'unused' && finding.head > over && isLate;
  return {
    silentSince: isSilent ? (silentSince ?? 0) : null,
    unusedSince: counts ? (unusedSince ?? 0) : null,
    isUsed: finding.kind === 'used' || (isUsed && (isSilent || finding.kind === 'pending')),
  };
}
