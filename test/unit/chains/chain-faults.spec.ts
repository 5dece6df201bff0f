import assert from 'node:assert/strict';
import type { Chain } from '../../../lab/world/chains/chain.js';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { CHAIN_FAULTS, type ChainFault, endFaults } from '../../../lab/world/chains/faults.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { DEVNET } from './solana-payment.js';

interface Family {
  open(): Chain;
  /** Produces that many blocks or slots. */
  advance(chain: Chain, count: number): void;
  head: [method: string, params: unknown[]];
  /** Asks for something that is `age` blocks or slots old; a pruned node does not answer it with a result. */
  old(head: number, age: number): [method: string, params: unknown[]];
  hasOld(answer: Answer, age: number, head: number): boolean;
}

interface Answer {
  status: number;
  result?: unknown;
  error?: { code: number };
}

const ADVANCED = 10;
const SIZE = 4;

const FAMILIES: Record<string, Family> = {
  'an EVM chain': {
    open: () => EvmChain.inProcess(84532),
    advance: (chain, count) => chain instanceof EvmChain && chain.mine(count),
    head: ['eth_getBlockByNumber', ['latest', false]],
    old: (head, age) => {
      const word = '00'.repeat(32);
      const data = `0xe94a0102${word}${word}`;
      return ['eth_call', [{ to: `0x${'11'.repeat(20)}`, data }, `0x${(head - age).toString(16)}`]];
    },
    hasOld: ({ result }) => result !== undefined,
  },
  'a Solana chain': {
    open: () => SolanaChain.inProcess(DEVNET),
    advance: (chain, count) => chain instanceof SolanaChain && chain.pass(count),
    head: ['getSlot', [{ commitment: 'processed' }]],
    old: () => ['getFirstAvailableBlock', []],
    hasOld: ({ result }, age, head) => Number(result) <= head - age,
  },
};

async function ask({ endpoint }: Chain, [method, params]: [string, unknown[]]): Promise<Answer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await endpoint.fetch(endpoint.url, { method: 'POST', body });
  const { status } = response;
  return status === 200 ? { ...JSON.parse(await response.text()), status } : { status };
}

for (const [name, { open, advance, head, old, hasOld }] of Object.entries(FAMILIES)) {
  describe(`${name} with a fault`, () => {
    let chain: Chain;
    beforeEach(() => {
      chain = open();
      advance(chain, ADVANCED);
    });
    afterEach(() => chain.close());

    async function height(): Promise<number> {
      const { result } = await ask(chain, head);
      return Number(typeof result === 'object' ? Object(result).number : result);
    }
    const begin = (fault: ChainFault): void => CHAIN_FAULTS[fault](chain, SIZE);
    async function heights(count: number): Promise<Set<number>> {
      const seen = new Set<number>();
      for (let asked = 0; asked < count; asked += 1) seen.add(await height());
      return seen;
    }

    const limits: [fault: ChainFault, isLimited: (answer: Answer) => boolean][] = [
      ['rate-limited', ({ status }) => status === 429],
      ['rate-limited by JSON-RPC errors', ({ status, error }) => status === 200 && error?.code === -32005],
    ];
    for (const [fault, isLimited] of limits) {
      it(`is ${fault} after so many calls a second`, async () => {
        begin(fault);
        const answers = await Promise.all(Array.from({ length: SIZE * 4 }, () => ask(chain, head)));
        assert.ok(answers.some(isLimited));
        endFaults(chain);
        const { status, error } = await ask(chain, head);
        assert.deepEqual([status, error], [200, undefined]);
      });
    }

    it('lags', async () => {
      const before = await height();
      begin('out of date');
      assert.equal(await height(), before - SIZE);
      endFaults(chain);
      assert.equal(await height(), before);
    });

    it('halts: its head stands still until it resumes', async () => {
      const before = await height();
      begin('halted');
      advance(chain, 3);
      assert.equal(await height(), before);
      let isRunning = false;
      const running = chain.running().then(() => {
        isRunning = true;
      });
      assert.equal(isRunning, false);
      endFaults(chain);
      await running;
      advance(chain, 3);
      assert.equal(await height(), before + 3);
    });

    it('prunes: what is older than its history is gone', async () => {
      const newest = await height();
      const has = async (age: number): Promise<boolean> =>
        hasOld(await ask(chain, old(newest, age)), age, newest);
      assert.equal(await has(SIZE + 1), true);
      begin('pruned');
      assert.deepEqual([await has(SIZE - 1), await has(SIZE + 1)], [true, false]);
      endFaults(chain);
      assert.equal(await has(SIZE + 1), true);
    });

    it('splits: two nodes of one endpoint disagree', async () => {
      const before = await height();
      begin('two nodes, one out of date');
      assert.deepEqual(await heights(40), new Set([before, before - SIZE]));
      endFaults(chain);
      assert.deepEqual(await heights(10), new Set([before]));
    });
  });
}
