import type { Chains, PaymentQuery } from '../../../shared/chains/confirmation.js';
import type { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { WorkerDeps } from '../../../workers/deps/deps.js';
import { confirmPayment } from '../../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import type { Mistake } from '../mistakes.js';
import { type Gate, isTrouble, Killed } from '../stage/gate.js';
import type { Work } from '../steps.js';
import { facilitatorOf } from '../world/facilitator.js';
import type { Run } from '../world/journal.js';
import { look } from '../world/look.js';
import { passUntil } from '../world/time.js';
import { at, observe, type World } from '../world/world.js';

/** What happens at two points of a run. */
export interface Within {
  depth: number;
  mistake: Mistake | undefined;
  stalled(): Promise<void>;
  meanwhile(): Promise<void>;
}

const LATE_MS = 90_000;

/** The real handler of what is due for a payment, on the world's facilitator and chain. */
export async function playWork(world: World, work: Work, within: Within): Promise<void> {
  for (let time = 0; time < work.times; time += 1) {
    const payment = at(world.payments, work.payment);
    if (!payment?.dueAt) return;
    await runHandler(world, payment, payment.dueAt, work, within);
  }
}

async function runHandler(
  world: World,
  { id: paymentId, stage }: Payment,
  dueAt: Date,
  work: Work,
  within: Within,
): Promise<void> {
  const worker = at(world.stage.workers, within.depth);
  if (worker === undefined) return;
  if (work.when !== 'now') passUntil(dueAt.getTime() + (work.when === 'late' ? LATE_MS : 1));
  const run = world.journal.beginRun(paymentId);
  const deps = depsOf(world, run, work, { ...within, gate: worker.gate, base: worker.deps });
  worker.gate.begin({ crash: work.crash, taken: within.stalled });
  try {
    if (stage === 'settle') await settlePayment(deps, { paymentId });
    else await confirmPayment(deps, { paymentId });
  } catch (error) {
    run.isCutOff = true;
    if (!isTrouble(error)) world.journal.violations.push(`a handler threw ${error}`);
  } finally {
    worker.gate.end();
    run.isOver = true;
  }
  await observe(world, run);
}

interface Around extends Within {
  gate: Gate;
  base: World['stage']['workers'][number]['deps'];
}

function depsOf(world: World, run: Run, work: Work, { gate, base, meanwhile, mistake }: Around): WorkerDeps {
  let isOver = false;
  const once = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await meanwhile();
  };
  const answered = (): void => {
    if (work.crash === 'in the call') throw new Killed();
    gate.arm();
  };
  const facilitator = facilitatorOf(world, run, work, { meanwhile: once, answered });
  const chains = chainsOf(world, run, work, { meanwhile: once, answered });
  return {
    ...base,
    config: world.stage.config(world.setup.confirmations),
    facilitator: mistake?.facilitator?.(facilitator) ?? facilitator,
    chains: mistake?.chains?.(chains) ?? chains,
  };
}

function chainsOf(
  world: World,
  run: Run,
  work: Work,
  { meanwhile, answered }: { meanwhile(): Promise<void>; answered(): void },
): Chains {
  return {
    async lookUp(query) {
      const payment = lookedFor(query);
      const early = look(world.chain, work.look, payment);
      await meanwhile();
      const finding = work.isStale ? early : look(world.chain, work.look, payment);
      world.journal.addLook({ run, atMs: nowMs(), finding });
      answered();
      return finding;
    },
    close: () => {},
  };
}

function lookedFor(query: PaymentQuery): Parameters<typeof look>[2] {
  if (query.family !== 'evm') throw new Error('not an EVM payment');
  const { nonce, from, validBefore } = query;
  return { nonce, payer: from, validBeforeSeconds: Number(validBefore) };
}
