import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EvmWorld, evmPlan, HONEST_EVM } from './evm-world.js';
import { HONEST_SOLANA, SolanaWorld, solanaPlan } from './solana-world.js';
import { type Mutant, Policy, plant, type Verdict, type World } from './world.js';

/**
 * Runs the real chain checks against simulated chains whose endpoints limit, lag, halt, forget and disagree, changing over
 * time. In every sequence of checks, a payment that has moved or still can must not fail, a payment that has not moved must
 * not count as paid, and each payment is decided soon after the endpoint answers honestly. CHAIN_SEED repeats a run.
 */
const SEED = Number(process.env.CHAIN_SEED ?? Date.now() % 2 ** 31);
const EVM_WORLDS = 400;
const SOLANA_WORLDS = 300;
/** Worlds to try for planted faults, which are found much earlier. */
const WORLDS_TO_FIND = 1000;
/** Checks 30 s apart: enough to pass an authorization's end and to search everything. */
const HONEST_CHECKS = 16;

interface Turning<Phase> extends World {
  turn(phase: Phase): void;
  pass(phase: Phase): void;
  close(): void;
}

async function play<Phase extends { checks: number }>(
  world: Turning<Phase>,
  phases: readonly Phase[],
  honest: Phase,
): Promise<void> {
  const policy = new Policy(world);
  let verdict: Verdict = { kind: 'undecided' };
  for (const phase of [...phases, { ...honest, checks: HONEST_CHECKS }]) {
    world.turn(phase);
    for (let checks = 0; checks < phase.checks; checks += 1) {
      if (verdict.kind !== 'undecided' && world.fate() !== 'open') break;
      world.pass(phase);
      if (verdict.kind === 'undecided') verdict = await policy.check();
    }
  }
  world.close();
  if (verdict.kind === 'given_up') return;
  assert.equal(verdict.kind, world.fate() === 'paid' ? 'paid' : 'failed');
}

const evm = (mutant?: Mutant) =>
  fc.asyncProperty(evmPlan, (plan) => play(plant(mutant, new EvmWorld(plan)), plan.phases, HONEST_EVM));
const solana = (mutant?: Mutant) =>
  fc.asyncProperty(solanaPlan, (plan) =>
    play(plant(mutant, new SolanaWorld(plan)), plan.phases, HONEST_SOLANA),
  );

describe(`chain checks against misbehaving endpoints (CHAIN_SEED=${SEED})`, function () {
  this.timeout(900_000);

  const { stackTraceLimit } = Error;

  before(() => {
    // The clients' parsers throw thousands of errors, whose stacks would take most of the time.
    Error.stackTraceLimit = 0;
  });

  after(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  it('are sound and terminate on EVM chains', async () => {
    await fc.assert(evm(), { seed: SEED, numRuns: EVM_WORLDS });
  });

  it('are sound and terminate on Solana', async () => {
    await fc.assert(solana(), { seed: SEED, numRuns: SOLANA_WORLDS });
  });

  const planted: [family: string, mutant: Mutant, property: fc.IAsyncProperty<unknown>][] = [
    ['EVM', 'too many blocks', evm('too many blocks')],
    ['Solana', 'too many transactions', solana('too many transactions')],
    ['EVM', 'a stale head', evm('a stale head')],
    ['Solana', 'a stale head', solana('a stale head')],
  ];
  for (const [family, mutant, property] of planted) {
    it(`are found unsound if ${mutant} is called unreadable on ${family}`, async () => {
      const found = await fc.check(property, { seed: SEED, numRuns: WORLDS_TO_FIND, endOnFailure: true });
      assert.ok(found.failed);
      const { errorInstance } = found;
      assert.ok(errorInstance instanceof assert.AssertionError);
      assert.deepEqual([errorInstance.actual, errorInstance.expected], ['failed', 'paid']);
    });
  }
});
