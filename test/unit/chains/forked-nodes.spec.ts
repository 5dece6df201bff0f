import assert from 'node:assert/strict';
import { EvmChain } from '../../../lab/world/chains/evm-chain.js';
import { transferLog, usedLog } from '../../../lab/world/chains/evm-logs.js';
import { ForkedNode } from '../../../lab/world/chains/forked-node.js';
import { type Chains, createChains } from '../../../shared/chains/chains.js';
import { forEachTest } from '../../support/hooks.js';
import { buildEvmQuery } from './evm-payment.js';

/** Geth answers receipts of dropped blocks at times (go-ethereum's issues 28918 and 29261); a node that is stuck on a fork does too. */
describe('an EVM endpoint of which a node has missed a reorganisation', () => {
  const chain = forEachTest(() => EvmChain.inProcess(84532));
  const node = forEachTest(() => new ForkedNode(chain));
  const payment = forEachTest(buildEvmQuery);
  let chains: Chains;

  afterEach(() => chains.close());

  function open(confirmations: number): void {
    chains = createChains(new Map(), {
      fetch: (input, init) => node.fetch(input, init),
      retryPauseMs: 0,
      confirmations: new Map([['EIP155_84532', confirmations]]),
    });
  }

  describe('and has the dropped block, with three confirmations set', () => {
    let dropped: `0x${string}`;

    beforeEach(() => {
      open(3);
      node.keeps = 'receipts and blocks';
    });

    function drop(): void {
      node.remember(dropped);
      chain.reorganise(dropped, 'dropped');
      chain.mine(5);
    }

    it("does not count other nodes' blocks as confirmations of it", async () => {
      dropped = chain.movePayment(payment);
      drop();
      const finding = await chains.check({ ...payment, transactionHint: dropped });
      assert.deepEqual(finding, { kind: 'pending', transaction: dropped });
      node.keeps = undefined;
      assert.equal((await chains.check({ ...payment, transactionHint: dropped })).kind, 'unused');
    });

    it('does not call it spent by a cancellation of that block', async () => {
      dropped = chain.cancelAuthorization(payment);
      drop();
      const finding = await chains.check({ ...payment, transactionHint: dropped });
      assert.deepEqual(finding, { kind: 'pending', transaction: dropped });
    });

    it('leaves a named transaction pending when the state of the newest block cannot be read', async () => {
      dropped = chain.movePayment(payment);
      drop();
      chain.endpoint.fail('http_500', 'eth_call');
      assert.equal((await chains.check({ ...payment, transactionHint: dropped })).kind, 'pending');
    });

    it('proves a named transaction whose use the newest block has', async () => {
      dropped = chain.movePayment(payment);
      chain.mine(2);
      const finding = await chains.check({ ...payment, transactionHint: dropped });
      assert.equal(finding.kind === 'paid' && finding.confirmations, 3);
    });
  });

  describe('and has the receipt of the dropped block', () => {
    let dropped: `0x${string}`;

    beforeEach(() => {
      open(0);
      node.keeps = 'receipts';
      dropped = chain.movePayment(payment);
      node.remember(dropped);
      chain.reorganise(dropped, 'dropped');
    });

    for (const hint of ['without its name', 'by its name']) {
      it(`proves the payment ${hint}, by the logs of the block in which it came again`, async () => {
        chain.movePayment(payment, dropped);
        const transactionHint = hint === 'by its name' ? dropped : undefined;
        const finding = await chains.check({ ...payment, transactionHint });
        assert.deepEqual(finding, {
          kind: 'paid',
          transaction: dropped,
          height: chain.head.number,
          proofIndex: 8,
          payer: payment.from,
          confirmations: 1,
        });
      });
    }

    it('proves nothing while the transaction has not come again', async () => {
      assert.equal((await chains.check({ ...payment, transactionHint: dropped })).kind, 'unused');
    });
  });

  it('proves nothing by logs that the receipt of the same block contradicts', async () => {
    open(0);
    const transaction = chain.execute([usedLog(payment), transferLog(payment)]);
    node.keeps = 'receipts';
    node.remember(transaction, { status: '0x0', logs: [] });
    assert.equal((await chains.check(payment)).kind, 'used');
  });
});
