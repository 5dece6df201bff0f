import { Keypair } from '@solana/web3.js';
import fc from 'fast-check';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { seededRandom } from '../../../lab/world/chance/seeded-random.js';
import type { Chains } from '../../../shared/chains/chains.js';
import { buildSolanaPayment, DEVNET, randomKey } from './solana-payment.js';
import { openUnpaced } from './unpaced.js';
import { countAnswers, HONEST, type Phase, phasesOf, seldom, type World } from './world.js';

interface SolanaPhase extends Phase {
  pageSize: number;
  listLag: number;
  listsMemos: boolean;
  includesMeta: boolean;
  hidesTransactions: boolean;
  /** Lists have the time 0 instead of the block's. */
  listsZeroTimes: boolean;
  includesVersions: boolean;
  /** Every other transaction is asked of a node that ignores which versions the caller supports. */
  hasOldNode: boolean;
  /** How many slots before the head the endpoint keeps transactions. */
  keepsSlots: number;
  /** Every other request reaches a node that keeps no older slots. */
  hasShortNode: boolean;
  /** Every other list comes from a node that lists minutes late. Its newest page has all that the claim can have. */
  hasLateLister: boolean;
  /** Other payments of the buyer between two checks. */
  purchases: number;
}

interface SolanaPlan {
  seed: number;
  clockSkewSeconds: number;
  /** Transactions of the same accounts before the claim. */
  earlier: number;
  refusesUnknownCursors: boolean;
  hint: 'none' | 'right' | 'wrong';
  fate: 'paid' | 'failed' | 'nothing';
  /** When the payment lands, in seconds of the chain's time after the claim. */
  fateAt: number;
  phases: readonly SolanaPhase[];
}

const INFINITE = Number.POSITIVE_INFINITY;
const BLOCKHASH = randomKey();
const BUYER = Keypair.generate();
const PAYMENT = buildSolanaPayment(BLOCKHASH, { buyer: BUYER }).query;
const { payTo } = PAYMENT;
/** Signing takes long, so a few messages land again and again under new signatures. */
const OTHERS = Array.from({ length: 3 }, () => buildSolanaPayment(BLOCKHASH, { buyer: BUYER, payTo }).query);
const SIGNATURE = '5'.repeat(87);
const LIFETIME_SLOTS = 150;
const LIFETIME_SECONDS = 180;
const WHOLE_PAGE = 1000;
const LATE_SLOTS = 1000;

export const HONEST_SOLANA: SolanaPhase = {
  ...HONEST,
  pageSize: 20,
  listLag: 0,
  listsMemos: true,
  includesMeta: true,
  hidesTransactions: false,
  listsZeroTimes: false,
  includesVersions: true,
  hasOldNode: false,
  keepsSlots: INFINITE,
  hasShortNode: false,
  hasLateLister: false,
  purchases: 1,
};

const METHODS = [
  ...['getSlot', 'getBlockTime', 'isBlockhashValid', 'getSignaturesForAddress', 'getTransaction'],
  ...['getSignatureStatuses', 'getFirstAvailableBlock'],
];
const phases = phasesOf(HONEST_SOLANA, METHODS, {
  pageSize: fc.constantFrom(WHOLE_PAGE, 100, 10, 3),
  listLag: fc.constantFrom(0, 0, 2, 10, 40),
  listsMemos: fc.boolean(),
  includesMeta: fc.boolean(),
  hidesTransactions: seldom,
  listsZeroTimes: fc.constantFrom(false, false, true),
  includesVersions: fc.boolean(),
  hasOldNode: fc.constantFrom(false, false, true),
  keepsSlots: fc.constantFrom(INFINITE, INFINITE, INFINITE, 400, 60, 0),
  hasShortNode: fc.boolean(),
  hasLateLister: fc.boolean(),
  nodes: fc.constantFrom([0], [0], [0, 1], [0, 10], [5, 0, 20]),
  allowance: fc.constantFrom(INFINITE, INFINITE, 5, 8, 15, 30),
  purchases: fc.constantFrom(0, 0, 1, 5),
});

export const solanaPlan: fc.Arbitrary<SolanaPlan> = fc.record({
  seed: fc.nat(),
  clockSkewSeconds: fc.integer({ min: -300, max: 60 }),
  earlier: fc.constantFrom(0, 1, 5, 20),
  refusesUnknownCursors: fc.boolean(),
  hint: fc.constantFrom('none', 'none', 'right', 'wrong'),
  fate: fc.constantFrom('paid', 'paid', 'failed', 'nothing'),
  fateAt: fc.integer({ min: 0, max: 55 }),
  phases,
});

export class SolanaWorld implements World {
  readonly #chain = SolanaChain.inProcess(DEVNET);
  readonly #plan: SolanaPlan;
  readonly answerCount = countAnswers(this.#chain.endpoint, 'getSignaturesForAddress', Array.isArray);
  readonly #claimedAt: number;
  readonly #firstSlot: number;
  #fate: 'paid' | 'lost' | 'open' = 'open';
  #isFulfilled = false;
  chains: Chains = openUnpaced(this.#chain.endpoint.fetch);
  query;
  now: number;
  readonly settledAt: number;
  readonly endsAt: number;
  readonly confirmations = 1;

  constructor(plan: SolanaPlan) {
    this.#plan = plan;
    const chain = this.#chain;
    chain.refusesUnknownCursors = plan.refusesUnknownCursors;
    this.#buy(plan.earlier);
    chain.issueBlockhash(BLOCKHASH);
    this.#firstSlot = chain.slot;
    this.#claimedAt = chain.time.getTime();
    const notBefore = new Date(this.#claimedAt + plan.clockSkewSeconds * 1000);
    const transactionHint = plan.hint === 'none' ? undefined : SIGNATURE;
    this.query = { ...PAYMENT, notBefore, transactionHint };
    this.now = this.#claimedAt;
    this.settledAt = this.now + 5000;
    this.endsAt = notBefore.getTime() + LIFETIME_SECONDS * 1000;
  }

  fate(): 'paid' | 'lost' | 'open' {
    const isOver = this.#chain.slot - this.#firstSlot > LIFETIME_SLOTS;
    return this.#fate === 'open' && isOver ? 'lost' : this.#fate;
  }

  turn(phase: SolanaPhase): void {
    const chain = this.#chain;
    const { pageSize, listLag, listsMemos, includesMeta, listsZeroTimes, includesVersions } = phase;
    Object.assign(chain, { pageSize, listLag, listsMemos, includesMeta, listsZeroTimes, includesVersions });
    chain.losesVersionLimit = false;
    chain.nodes.spread(phase.nodes, phase.atRandom ? seededRandom(this.#plan.seed) : undefined);
    chain.hidesTransactions = phase.hidesTransactions;
    const kept = Math.max(chain.slot - phase.keepsSlots, 0);
    const keptByOther = phase.hasShortNode ? chain.slot : kept;
    chain.ledgerFrom = kept;
    const listLagOfOther = phase.hasLateLister && pageSize === WHOLE_PAGE ? LATE_SLOTS : listLag;
    chain.endpoint.onCall = (method) => {
      chain.ledgerFrom = chain.ledgerFrom === kept ? keptByOther : kept;
      if (method === 'getSignaturesForAddress')
        chain.listLag = chain.listLag === listLag ? listLagOfOther : listLag;
      if (method === 'getTransaction') chain.losesVersionLimit = phase.hasOldNode && !chain.losesVersionLimit;
    };
    chain.endpoint.recover();
    if (phase.fault !== null) chain.endpoint.fail(phase.fault.kind, phase.fault.method);
  }

  pass({ secondsApart, allowance, isHalted, purchases }: SolanaPhase): void {
    this.now += secondsApart * 1000;
    this.#chain.endpoint.allowance = allowance;
    if (isHalted) return;
    for (let passed = 0; passed < secondsApart; passed += 1) {
      this.#chain.travel(1);
      const seconds = (this.#chain.time.getTime() - this.#claimedAt) / 1000;
      if (!this.#isFulfilled && seconds >= this.#plan.fateAt) this.#fulfil();
    }
    this.#buy(purchases);
  }

  close(): void {
    this.chains.close();
  }

  #buy(count: number): void {
    for (const [index, { signedTransaction }] of OTHERS.entries()) {
      this.#chain.landMany(signedTransaction, Math.ceil((count - index) / OTHERS.length));
    }
  }

  #fulfil(): void {
    const { fate, hint } = this.#plan;
    this.#isFulfilled = true;
    if (fate === 'nothing' || this.#chain.slot - this.#firstSlot >= LIFETIME_SLOTS) return;
    this.#chain.movePayment(PAYMENT.signedTransaction, {
      ...(fate === 'failed' && { error: { InstructionError: [2, { Custom: 1 }] } }),
      ...(hint === 'right' && { signature: SIGNATURE }),
    });
    this.#fate = fate === 'paid' ? 'paid' : 'lost';
  }
}
