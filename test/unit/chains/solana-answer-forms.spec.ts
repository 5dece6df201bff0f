import assert from 'node:assert/strict';
import { Keypair } from '@solana/web3.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import type { ChainFetch } from '../../../shared/chains/rpc/rpc-fetch.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';
import { forEachTest } from '../../support/hooks.js';
import { assertFound } from './assert-found.js';
import { buildSolanaPayment, DEVNET } from './solana-payment.js';
import { openUnpaced } from './unpaced.js';

/** The parts of answers that a node, a proxy or an indexer leaves out, fills with zeros or answers in another form. */
describe('a Solana endpoint whose answers have another form', () => {
  const error = { InstructionError: [2, { Custom: 1 }] };
  const buyer = Keypair.generate();
  const chain = forEachTest(() => SolanaChain.inProcess(DEVNET));
  const chains = forEachTest(() => openUnpaced(fetch));
  let blockhash: string;
  let payment: SolanaPaymentQuery;
  /** Changes an answer before it is sent. */
  let spoil: (method: string, answer: Record<string, unknown>, params: readonly unknown[]) => object;

  const fetch: ChainFetch = async (input, init) => {
    const { method, params } = JSON.parse(String(init?.body));
    const response = await chain.endpoint.fetch(input, init);
    return Response.json(spoil(method, JSON.parse(await response.text()), params));
  };

  beforeEach(async () => {
    spoil = (_method, answer) => answer;
    blockhash = chain.issueBlockhash();
    payment = buildSolanaPayment(blockhash, { buyer }).query;
    const first = await chains.check(payment);
    assert.ok(first.kind === 'unused');
    payment = { ...payment, position: first.position };
  });

  /** Lands the payment, and passes the life of its blockhash. */
  function land(landing: { error?: object } = {}): string {
    const transaction = chain.movePayment(payment.signedTransaction, landing);
    chain.travel(400);
    return transaction;
  }

  const spoilsTransactions = (change: (landed: ReturnType<typeof JSON.parse>) => void): void => {
    spoil = (method, answer) => {
      if (method === 'getTransaction' && answer.result) change(answer.result);
      return answer;
    };
  };

  it('that names no version shows the payment, and a payment that failed', async () => {
    chain.includesVersions = false;
    land();
    assert.equal((await chains.check(payment)).kind, 'paid');
    payment = buildSolanaPayment(chain.issueBlockhash(), { buyer }).query;
    land({ error });
    assert.equal((await chains.check(payment)).kind, 'spent_otherwise');
  });

  it('that names no version does not hide the payment from later checks', async () => {
    const other = buildSolanaPayment(blockhash, { buyer }).query;
    chain.includesVersions = false;
    chain.listsMemos = false;
    land();
    assert.notEqual((await chains.check(other)).kind, 'paid');
    chain.includesVersions = true;
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  it('that ignores which versions are asked for proves nothing, also with the transaction named', async () => {
    chain.losesVersionLimit = true;
    const transactionHint = land();
    await assertFound('searching', chains.check(payment), /cannot be read/);
    await assertFound('searching', chains.check({ ...payment, transactionHint }), /./);
    chain.losesVersionLimit = false;
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  it('that lists the time 0 shows the payment', async () => {
    chain.listsZeroTimes = true;
    land();
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  it('that has the time 0 for the start of its ledger proves nothing', async () => {
    land();
    chain.ledgerFrom = chain.slot - 100;
    spoil = (method, answer, [slot]) =>
      method === 'getBlockTime' && slot === chain.ledgerFrom ? { ...answer, result: 0 } : answer;
    await assertFound('searching', chains.check(payment), /no time for slot/);
  });

  it("that answers the payment's transaction with another message proves nothing", async () => {
    spoilsTransactions(({ transaction }) => transaction.message.accountKeys.reverse());
    land();
    await assertFound('searching', chains.check(payment), /cannot be read/);
    spoilsTransactions(() => undefined);
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  it('that answers an error beside a list proves nothing', async () => {
    land();
    for (const told of ['overloaded', '', true, { message: 'overloaded' }]) {
      spoil = (method, answer) =>
        method === 'getSignaturesForAddress' ? { ...answer, result: [], error: told } : answer;
      assert.equal((await chains.check(payment)).kind, 'unreadable', JSON.stringify(told));
    }
  });

  it('that answers with an error that is null shows the payment', async () => {
    land();
    spoil = (method, answer) => (method === 'getSignaturesForAddress' ? { ...answer, error: null } : answer);
    assert.equal((await chains.check(payment)).kind, 'paid');
  });

  it('whose status and transaction differ on the outcome proves nothing', async () => {
    for (const landing of [{}, { error }]) {
      land(landing);
      spoilsTransactions(({ meta }) => {
        meta.err = meta.err === null ? error : null;
      });
      await assertFound('searching', chains.check(payment), /cannot be read/);
      chain.forgetsStatuses = true;
      spoilsTransactions(() => undefined);
      assert.equal((await chains.check(payment)).kind, 'error' in landing ? 'spent_otherwise' : 'paid');
      chain.forgetsStatuses = false;
      payment = buildSolanaPayment(chain.issueBlockhash(), { buyer }).query;
    }
  });
});
