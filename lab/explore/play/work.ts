import type { Chains, PaymentQuery } from '../../../shared/chains/chains.js';
import type { Payment } from '../../../shared/payments/model.js';
import { nowMs } from '../../../shared/process/clock.js';
import type { WorkerDeps } from '../../../workers/deps/deps.js';
import { confirmPayment } from '../../../workers/jobs/confirm-payment.js';
import { settlePayment } from '../../../workers/jobs/settle-payment.js';
import type { Mutant } from '../mutants/mutants.js';
import type { Work } from '../steps/steps.js';
import { type Gate, isInjectedFault, Killed } from '../system/gate.js';
import { checkChain } from '../world/check-chain.js';
import { facilitatorsOf } from '../world/facilitator.js';
import type { Run } from '../world/journal.js';
import { passUntil } from '../world/time.js';
import { at, observe, type World } from '../world/world.js';

/** Hooks at two points of a handler's run. */
interface RunHooks {
  depth: number;
  mutant: Mutant | undefined;
  stalled(): Promise<void>;
  meanwhile(): Promise<void>;
}

const LATE_MS = 90_000;

/** Runs the real handler for a payment, with the world's facilitator and chain. */
export async function playWork(world: World, work: Work, within: RunHooks): Promise<void> {
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
  within: RunHooks,
): Promise<void> {
  const worker = at(world.system.workers, within.depth);
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
    if (!isInjectedFault(error)) world.journal.violations.push(`a handler threw ${error}`);
  } finally {
    worker.gate.end();
    run.isOver = true;
  }
  await observe(world, run);
}

interface RunContext extends RunHooks {
  gate: Gate;
  base: World['system']['workers'][number]['deps'];
}

function depsOf(
  world: World,
  run: Run,
  work: Work,
  { gate, base, meanwhile, mutant }: RunContext,
): WorkerDeps {
  let isOver = false;
  const once = async (): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await meanwhile();
  };
  const onAnswer = (): void => {
    if (work.crash === 'in the call') throw new Killed();
    gate.arm();
  };
  const facilitators = facilitatorsOf(world, run, work, { meanwhile: once, onAnswer });
  const chains = chainsOf(world, run, work, { meanwhile: once, onAnswer });
  return {
    ...base,
    config: world.system.config(world.setup.confirmations),
    facilitators: mutant?.facilitators?.(facilitators) ?? facilitators,
    chains: mutant?.chains?.(chains) ?? chains,
  };
}

function chainsOf(
  world: World,
  run: Run,
  work: Work,
  { meanwhile, onAnswer }: { meanwhile(): Promise<void>; onAnswer(): void },
): Chains {
  return {
    async check(query) {
      const payment = checkedPayment(query);
      const early = checkChain(world.chain, work.check, payment);
      await meanwhile();
      const finding = work.isStale ? early : checkChain(world.chain, work.check, payment);
      world.journal.addCheck({ run, atMs: nowMs(), finding });
      onAnswer();
      return finding;
    },
    close: () => {},
  };
}

function checkedPayment(query: PaymentQuery): Parameters<typeof checkChain>[2] {
  if (query.family !== 'evm') throw new Error('not an EVM payment');
  const { nonce, from, validBefore } = query;
  return { nonce, payer: from, validBeforeSeconds: Number(validBefore) };
}
