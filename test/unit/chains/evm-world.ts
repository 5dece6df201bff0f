import fc from 'fast-check';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { ForkedNode } from '../../../lab/world/chains/forked-node.js';
import { LOG_REFUSALS, type LogRefusal } from '../../../lab/world/chains/log-refusals.js';
import { seededRandom } from '../../../lab/world/chance/seeded-random.js';
import type { Chains } from '../../../shared/chains/chains.js';
import { AnswerTooLong } from '../../../shared/chains/check/unreadable.js';
import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';
import { buildEvmQuery, randomAddress } from './evm-payment.js';
import { openUnpaced } from './unpaced.js';
import { countAnswers, HONEST, type Phase, phasesOf, type World } from './world.js';

interface EvmPhase extends Phase {
  maxLogRange: number;
  logRefusal: LogRefusal;
  keepsState: number;
  keepsBlocks: number;
  refusesPrunedBlocks: boolean;
  indexLag: number;
  /** Every other search for logs is answered by a node whose index is minutes late. */
  hasLateIndex: boolean;
  /** Searches for logs answer so many at most, without an error. */
  mostLogs: number;
  /** Every other receipt is asked of a node that has forgotten it. */
  hasForgetfulNode: boolean;
  /** A node has the block that a reorganisation dropped. */
  hasForkedNode: boolean;
}

interface EvmPlan {
  seed: number;
  validForSeconds: number;
  clockSkewSeconds: number;
  blocksBefore: number;
  knowsBlockHashes: boolean;
  /** Other contracts' logs make the receipt longer than an answer may be. */
  hasLongReceipt: boolean;
  hint: 'none' | 'right' | 'wrong';
  fate: 'paid' | 'cancelled' | 'elsewhere' | 'less' | 'nothing';
  /** When the chain acts after the claim, as a fraction of the authorization's lifetime. */
  fateAt: number;
  /** Three confirmations are set, and the payment's first block is dropped before it has them. Its receipt stays. */
  reorganised: 'moved' | 'gone' | null;
  phases: readonly EvmPhase[];
}

const INFINITE = Number.POSITIVE_INFINITY;
const SECONDS_PER_BLOCK = 2;
const LATE_BLOCKS = 300;
const CONFIRMATIONS = 3;
const FROM = randomAddress();
const PAY_TO = randomAddress();
const ELSEWHERE = randomAddress();

export const HONEST_EVM: EvmPhase = {
  ...HONEST,
  maxLogRange: 10,
  logRefusal: 'named',
  keepsState: 0,
  keepsBlocks: INFINITE,
  refusesPrunedBlocks: false,
  indexLag: 0,
  hasLateIndex: false,
  mostLogs: INFINITE,
  hasForgetfulNode: false,
  hasForkedNode: false,
};

const METHODS = ['eth_getLogs', 'eth_getTransactionReceipt', 'eth_call', 'eth_getBlockByNumber'];
const phases = phasesOf(HONEST_EVM, METHODS, {
  maxLogRange: fc.constantFrom(INFINITE, 2000, 100, 10, 3, 0),
  logRefusal: fc.constantFrom(...(Object.keys(LOG_REFUSALS) as LogRefusal[])),
  keepsState: fc.constantFrom(INFINITE, 128, 8, 0),
  keepsBlocks: fc.constantFrom(INFINITE, INFINITE, 100),
  refusesPrunedBlocks: fc.boolean(),
  indexLag: fc.constantFrom(0, 0, 1, 10, 60),
  hasLateIndex: fc.boolean(),
  mostLogs: fc.constantFrom(INFINITE, INFINITE, INFINITE, 1, 0),
  hasForgetfulNode: fc.boolean(),
  nodes: fc.constantFrom([0], [0], [0, 1], [0, 7], [0, 40], [3, 0, 9]),
  allowance: fc.constantFrom(INFINITE, INFINITE, 4, 6, 10, 20),
  hasForkedNode: fc.boolean(),
});

export const evmPlan: fc.Arbitrary<EvmPlan> = fc.record({
  seed: fc.nat(),
  validForSeconds: fc.integer({ min: 30, max: 200 }),
  clockSkewSeconds: fc.integer({ min: -300, max: 300 }),
  blocksBefore: fc.constantFrom(0, 300, 1500),
  knowsBlockHashes: fc.boolean(),
  hasLongReceipt: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.boolean()),
  hint: fc.constantFrom('none', 'none', 'right', 'wrong'),
  fate: fc.constantFrom('paid', 'paid', 'paid', 'cancelled', 'elsewhere', 'less', 'nothing'),
  fateAt: fc.double({ min: 0, max: 0.95, noNaN: true }),
  reorganised: fc.option(fc.constantFrom('moved', 'gone'), { freq: 2 }),
  phases,
});

export class EvmWorld implements World {
  readonly #chain = EvmChain.inProcess(84532);
  readonly #plan: EvmPlan;
  readonly #payment;
  readonly answerCount = countAnswers(
    this.#chain.endpoint,
    'eth_call',
    (result) => typeof result === 'string',
  );
  readonly #fateTime: number;
  readonly #forkedNode = new ForkedNode(this.#chain);
  readonly confirmations: number;
  #wasDropped = false;
  #fate: 'paid' | 'lost' | 'open' = 'open';
  chains: Chains;
  query;
  now: number;
  readonly settledAt: number;
  readonly endsAt: number;

  constructor(plan: EvmPlan) {
    this.#plan = plan;
    this.confirmations = plan.reorganised === null ? 1 : CONFIRMATIONS;
    const confirmations = new Map([['EIP155_84532', this.confirmations]]);
    this.chains = openUnpaced((input, init) => this.#fetch(input, init), { confirmations });
    const chain = this.#chain;
    chain.mineAt(SECONDS_PER_BLOCK, plan.blocksBefore);
    chain.knowsBlockHashes = plan.knowsBlockHashes;
    const claimedAt = chain.head.timestamp;
    const validBefore = BigInt(claimedAt + plan.validForSeconds);
    const notBefore = new Date((claimedAt + plan.clockSkewSeconds) * 1000);
    this.#payment = buildEvmQuery({ from: FROM, payTo: PAY_TO, validBefore, notBefore });
    const transactionHint = plan.hint === 'none' ? undefined : this.#payment.nonce.replace(/^0x./, '0xe');
    this.query = { ...this.#payment, transactionHint };
    // The service's clock, by which the chain's is behind or ahead.
    this.now = notBefore.getTime();
    this.settledAt = this.now + 5000;
    this.endsAt = Number(validBefore) * 1000;
    this.#fateTime = claimedAt + Math.floor(plan.fateAt * plan.validForSeconds);
  }

  fate(): 'paid' | 'lost' | 'open' {
    return this.#fate === 'open' && this.#chain.head.timestamp * 1000 > this.endsAt ? 'lost' : this.#fate;
  }

  turn(phase: EvmPhase): void {
    const chain = this.#chain;
    const { maxLogRange, logRefusal, keepsState, keepsBlocks, refusesPrunedBlocks, mostLogs } = phase;
    Object.assign(chain, { maxLogRange, logRefusal, keepsState, keepsBlocks, refusesPrunedBlocks, mostLogs });
    let searches = 0;
    chain.forgetsReceipts = false;
    chain.endpoint.onCall = (method) => {
      if (method === 'eth_getLogs') {
        searches += 1;
        const isLate = phase.hasLateIndex && searches % 2 === 0;
        chain.lag.set('eth_getLogs', isLate ? LATE_BLOCKS : phase.indexLag);
      }
      if (method === 'eth_getTransactionReceipt')
        chain.forgetsReceipts = phase.hasForgetfulNode && !chain.forgetsReceipts;
    };
    chain.nodes.spread(phase.nodes, phase.atRandom ? seededRandom(this.#plan.seed) : undefined);
    this.#forkedNode.keeps = phase.hasForkedNode ? 'receipts and blocks' : 'receipts';
    chain.endpoint.recover();
    if (phase.fault !== null) chain.endpoint.fail(phase.fault.kind, phase.fault.method);
  }

  pass({ secondsApart, allowance, isHalted }: EvmPhase): void {
    this.now += secondsApart * 1000;
    this.#chain.endpoint.allowance = allowance;
    if (isHalted) return;
    for (let passed = 0; passed < secondsApart; passed += SECONDS_PER_BLOCK) {
      this.#chain.mineAt(SECONDS_PER_BLOCK, 1);
      if (this.#fate === 'open' && this.#chain.head.timestamp >= this.#fateTime) this.#fulfil();
    }
  }

  close(): void {
    this.chains.close();
  }

  readonly #fetch: ChainFetch = async (input, init) => {
    const { method } = JSON.parse(String(init?.body));
    const answer = await this.#forkedNode.fetch(input, init);
    if (method === 'eth_getTransactionReceipt' && this.#plan.hasLongReceipt)
      throw new AnswerTooLong('the answer is too long');
    return answer;
  };

  #fulfil(): void {
    const { fate, hint, reorganised } = this.#plan;
    const payment = this.#payment;
    if (fate === 'paid' && reorganised !== null && !this.#wasDropped) {
      this.#dropFirstBlock();
      if (reorganised === 'moved') return;
      this.#fate = 'lost';
      return;
    }
    if (fate === 'nothing') return;
    if (fate === 'cancelled') this.#chain.cancelAuthorization(payment);
    else {
      const parts = { paid: {}, elsewhere: { payTo: ELSEWHERE }, less: { amount: payment.amount - 1n } }[
        fate
      ];
      const name = hint === 'right' ? this.query.transactionHint : undefined;
      this.#chain.movePayment({ ...payment, ...parts }, name);
    }
    this.#fate = fate === 'paid' ? 'paid' : 'lost';
  }

  /** The payment moves, and a block later its block is replaced. */
  #dropFirstBlock(): void {
    const name = this.#plan.hint === 'right' ? this.query.transactionHint : undefined;
    const dropped = this.#chain.movePayment(this.#payment, name);
    this.#forkedNode.remember(dropped);
    this.#chain.mineAt(SECONDS_PER_BLOCK, 1);
    this.#chain.reorganise(dropped, 'dropped');
    this.#wasDropped = true;
  }
}
