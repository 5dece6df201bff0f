import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EvmWorld, evmPlan, HONEST_EVM } from './evm-world.js';
import { HONEST_SOLANA, SolanaWorld, solanaPlan } from './solana-world.js';
import { type Mistake, Policy, plant, type Verdict, type World } from './world.js';

/**
 * The real look-ups against simulated chains whose endpoints limit, lag, halt, forget and disagree, turned over time.
 * However the looks fall, no payment may fail that has moved or still can, none may count as paid that has not, and
 * each one ends soon after the endpoint answers honestly. A run that fails is repeated with its CHAIN_SEED.
 */
const SEED = Number(process.env.CHAIN_SEED ?? Date.now() % 2 ** 31);
const EVM_WORLDS = 1200;
const SOLANA_WORLDS = 800;
/** For planted mistakes, which are found much earlier. */
const WORLDS_TO_FIND = 1000;
/** Of 30 s each, until an authorization's end and all there is to search has gone by. */
const HONEST_LOOKS = 16;

interface Turning<Phase> extends World {
  turn(phase: Phase): void;
  pass(phase: Phase): void;
  close(): void;
}

async function play<Phase extends { looks: number }>(
  world: Turning<Phase>,
  phases: readonly Phase[],
  honest: Phase,
): Promise<void> {
  const policy = new Policy(world);
  let verdict: Verdict = { kind: 'undecided' };
  for (const phase of [...phases, { ...honest, looks: HONEST_LOOKS }]) {
    world.turn(phase);
    for (let looks = 0; looks < phase.looks; looks += 1) {
      if (verdict.kind !== 'undecided' && world.fate() !== 'open') break;
      world.pass(phase);
      if (verdict.kind === 'undecided') verdict = await policy.look();
    }
  }
  world.close();
  if (verdict.kind === 'given_up') return;
  assert.equal(verdict.kind, world.fate() === 'paid' ? 'paid' : 'failed');
}

const evm = (mistake?: Mistake): fc.IAsyncProperty<[Parameters<typeof newEvm>[0]]> =>
  fc.asyncProperty(evmPlan, async (plan) => {
    const world = newEvm(plan);
    await play(mistake === undefined ? world : spoil(mistake, world), plan.phases, HONEST_EVM);
  });

const solana = (mistake?: Mistake): fc.IAsyncProperty<[Parameters<typeof newSolana>[0]]> =>
  fc.asyncProperty(solanaPlan, async (plan) => {
    const world = newSolana(plan);
    await play(mistake === undefined ? world : spoil(mistake, world), plan.phases, HONEST_SOLANA);
  });

function newEvm(plan: ConstructorParameters<typeof EvmWorld>[0]): EvmWorld {
  return new EvmWorld(plan);
}

function newSolana(plan: ConstructorParameters<typeof SolanaWorld>[0]): SolanaWorld {
  return new SolanaWorld(plan);
}

function spoil<W extends World>(mistake: Mistake, world: W): W {
  plant(mistake, world);
  return world;
}

describe(`looking for payments, whatever the endpoints do (CHAIN_SEED=${SEED})`, function () {
  this.timeout(300_000);

  const { stackTraceLimit } = Error;

  before(() => {
    // The clients' parsers throw by the thousand, and a stack costs more than all else.
    Error.stackTraceLimit = 0;
  });

  after(() => {
    Error.stackTraceLimit = stackTraceLimit;
  });

  it('is sound on EVM chains, and ends', async () => {
    await fc.assert(evm(), { seed: SEED, numRuns: EVM_WORLDS });
  });

  it('is sound on Solana, and ends', async () => {
    await fc.assert(solana(), { seed: SEED, numRuns: SOLANA_WORLDS });
  });

  const planted: [family: string, mistake: Mistake, property: fc.IAsyncProperty<unknown>][] = [
    ['EVM', 'too many blocks', evm('too many blocks')],
    ['Solana', 'too many transactions', solana('too many transactions')],
    ['EVM', 'a stale head', evm('a stale head')],
    ['Solana', 'a stale head', solana('a stale head')],
  ];
  for (const [family, mistake, property] of planted) {
    it(`would not be if ${mistake} were called unreadable on ${family}, and this finds it`, async () => {
      const found = await fc.check(property, { seed: SEED, numRuns: WORLDS_TO_FIND, endOnFailure: true });
      assert.ok(found.failed);
      const { errorInstance } = found;
      assert.ok(errorInstance instanceof assert.AssertionError);
      assert.deepEqual([errorInstance.actual, errorInstance.expected], ['failed', 'paid']);
    });
  }
});
