import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js';
import { toBase58 } from '../../../lab/world/chains/base58.js';
import { SolanaChain } from '../../../lab/world/chains/solana-chain.js';
import { memo, tokenAccount, tokenProgram } from '../../../lab/world/shop/agent.js';
import { createChains } from '../../../shared/chains/chains.js';
import type { ChainFinding } from '../../../shared/chains/check/finding.js';
import type { SolanaPaymentQuery } from '../../../shared/chains/solana/solana.js';
import { nowMs } from '../../../shared/process/clock.js';
import { forEachTest } from '../../support/hooks.js';
import { assertPaid } from './assert-found.js';
import {
  buildSolanaPayment,
  DEVNET,
  randomKey,
  type SolanaPayment,
  USDC_MINT,
  USDG_MINT,
} from './solana-payment.js';

/** 65 and 63 bytes whose base58 is as long as a signature's. */
const LONG = toBase58(Buffer.concat([Buffer.from([1]), randomBytes(64)]));
const SHORT = toBase58(Buffer.concat([Buffer.from([255]), randomBytes(62)]));
const FAILURE = { InstructionError: [2, { Custom: 1 }] };

const accountOf = (payTo: string): PublicKey =>
  tokenAccount(new PublicKey(payTo), USDC_MINT, tokenProgram(DEVNET, USDC_MINT));

/** An instruction of a program that nobody knows. */
function callOfAnother(
  accounts: PublicKey[],
  signer?: Keypair,
  data = randomBytes(8),
): TransactionInstruction {
  const keys = accounts.map((pubkey) => {
    const isSigner = signer?.publicKey.equals(pubkey) ?? false;
    return { pubkey, isSigner, isWritable: !isSigner };
  });
  return new TransactionInstruction({ programId: Keypair.generate().publicKey, keys, data });
}

describe('checking a payment on Solana', () => {
  const chain = forEachTest(() => SolanaChain.start(DEVNET));
  const chains = forEachTest(() => createChains(new Map([['SOLANA_DEVNET', chain.endpoint.url]])));
  let blockhash: string;
  let payment: SolanaPayment;

  beforeEach(() => {
    blockhash = chain.issueBlockhash();
    payment = buildSolanaPayment(blockhash);
  });

  function check(parts: Partial<SolanaPaymentQuery> = {}): Promise<ChainFinding> {
    return chains.check({ ...payment.query, ...parts });
  }

  function land({ query }: SolanaPayment, landing = {}): string {
    return chain.movePayment(query.signedTransaction, landing);
  }

  async function kindOf(finding: Promise<ChainFinding>): Promise<string> {
    const found = await finding;
    return found.kind === 'unused' && found.exhausted ? 'exhausted' : found.kind;
  }

  it('finds it by the message, without the signature', async () => {
    const transaction = land(payment);
    // The payment's own slot is confirmed two slots after it.
    const height = chain.slot - 2;
    const payer = payment.buyer.publicKey.toBase58();
    const paid = { kind: 'paid', transaction, height, proofIndex: 2, payer, confirmations: 1 };
    assert.deepEqual(await check(), paid);
  });

  it('counts a confirmed transaction as one confirmation and a finalized one as two', async () => {
    land(payment);
    for (const confirmations of [1, 2]) {
      const found = await check();
      assert.equal(found.kind === 'paid' && found.confirmations, confirmations);
      chain.pass(32);
    }
  });

  for (const [what, parts] of [
    ['Token-2022 payment', { mint: USDG_MINT }],
    ['legacy transaction', { version: 'legacy' }],
  ] as const) {
    it(`finds a ${what}`, async () => {
      payment = buildSolanaPayment(blockhash, parts);
      const transactionHint = land(payment);
      assert.equal(await kindOf(check()), 'paid');
      assert.equal(await kindOf(check({ transactionHint })), 'paid');
    });
  }

  it('finds it with other instructions in any order', async () => {
    payment = buildSolanaPayment(blockhash, { before: [memo('first')], after: [memo('second')] });
    land(payment);
    const finding = await check();
    assert.equal(finding.kind === 'paid' && finding.proofIndex, 3);
  });

  it('finds a transfer inside another program by the balances', async () => {
    const wallet = Keypair.generate();
    const payTo = randomKey();
    const destination = accountOf(payTo);
    const instructions = [callOfAnother([wallet.publicKey, destination], wallet)];
    payment = buildSolanaPayment(blockhash, { payTo, buyer: wallet, instructions });
    const account = destination.toBase58();
    land(payment, { receives: { [account]: 1_000_000n }, commitment: 'finalized' });
    const finding = await check();
    assert.ok(finding.kind === 'paid');
    assert.deepEqual([finding.proofIndex, finding.payer], [0, wallet.publicKey.toBase58()]);
    assert.equal(await kindOf(check({ amount: 1_000_001n })), 'spent_otherwise');
    chain.includesBalances = false;
    assert.equal(await kindOf(check()), 'searching');
  });

  it('reports the time of the newest finalized block, up to which it had not landed', async () => {
    const finding = await check();
    assert.ok(finding.kind === 'unused' && !finding.exhausted);
    const age = nowMs() - finding.chainTime.getTime();
    assert.ok(age >= 12_000 && age < 60_000);
  });

  it('does not accept the same accounts and amount in another message', async () => {
    const { payTo } = payment.query;
    const twin = buildSolanaPayment(blockhash, { payTo, buyer: payment.buyer });
    const transactionHint = land(twin);
    assert.equal(await kindOf(check()), 'unused');
    assert.equal(await kindOf(check({ transactionHint })), 'unused');
    assert.equal(await kindOf(chains.check(twin.query)), 'paid');
  });

  it('finds it among other payments of the same buyer to the same merchant', async () => {
    const { payTo } = payment.query;
    const landOthers = (): void => {
      for (let paid = 0; paid < 3; paid += 1)
        land(buildSolanaPayment(blockhash, { payTo, buyer: payment.buyer }));
    };
    landOthers();
    const transaction = land(payment);
    landOthers();
    await assertPaid(check(), transaction);
  });

  it("finds it among a busy buyer's payments to the same merchant", async () => {
    for (let paid = 0; paid < 45; paid += 1) land(buildSolanaPayment(blockhash, { buyer: payment.buyer }));
    const transaction = land(payment);
    await assertPaid(check(), transaction);
    assert.equal(chain.endpoint.callsOf('getTransaction'), 1);
  });

  it("reads all of the buyer's payments to this merchant when their memos are equal", async () => {
    const { payTo } = payment.query;
    chain.listsMemos = false;
    for (let paid = 0; paid < 41; paid += 1)
      land(buildSolanaPayment(blockhash, { payTo, buyer: payment.buyer }));
    assert.equal(await kindOf(check()), 'unused');
    assert.equal(chain.endpoint.callsOf('getTransaction'), 41);
    const transaction = land(payment);
    await assertPaid(check(), transaction);
  });

  it('finds it in the list of the merchant when the fee payer alone has signed', async () => {
    const { payTo } = payment.query;
    const destination = accountOf(payTo);
    const instructions = [callOfAnother([destination])];
    payment = buildSolanaPayment(blockhash, { payTo, instructions, signers: [] });
    land(payment, { receives: { [destination.toBase58()]: 1_000_000n } });
    const finding = await check();
    assert.ok(finding.kind === 'paid');
    assert.equal(finding.payer, undefined, 'the payer is said to be the facilitator');
  });

  describe('a transaction that is only processed', () => {
    it('is pending when the facilitator has named it', async () => {
      const transaction = land(payment, { commitment: 'processed' });
      assert.deepEqual(await check({ transactionHint: transaction }), { kind: 'pending', transaction });
    });

    it('is not found without a hint, and proves nothing yet', async () => {
      land(payment, { commitment: 'processed' });
      assert.equal(await kindOf(check()), 'unused');
    });

    it('does not keep a payment pending whose blockhash has expired, even if the facilitator names it', async () => {
      const first = await check();
      assert.ok(first.kind === 'unused');
      chain.travel(200);
      const stranger = buildSolanaPayment(chain.issueBlockhash());
      const transactionHint = land(stranger, { commitment: 'processed' });
      assert.equal(await kindOf(check({ transactionHint, position: first.position })), 'exhausted');
    });
  });

  describe('a transaction that failed', () => {
    it('is spent once it is finalized', async () => {
      const transaction = land(payment, { error: FAILURE, commitment: 'finalized' });
      for (const hint of [{}, { transactionHint: transaction }])
        assert.deepEqual(await check(hint), { kind: 'spent_otherwise', transaction });
    });

    it('is pending while its block may be dropped', async () => {
      const transaction = land(payment, { error: FAILURE });
      assert.deepEqual(await check(), { kind: 'pending', transaction });
    });

    it('proves nothing about this payment when it holds another message', async () => {
      const twin = buildSolanaPayment(blockhash, { payTo: payment.query.payTo, buyer: payment.buyer });
      const transactionHint = land(twin, { error: FAILURE, commitment: 'finalized' });
      assert.equal(await kindOf(check({ transactionHint })), 'unused');
    });
  });

  describe('a message that does not pay', () => {
    for (const [title, parts] of [
      ['the amount', { amount: 1_000_001n }],
      ['this merchant', { payTo: randomKey() }],
      ['in this token', { mint: USDG_MINT }],
    ] as const) {
      it(`${title} is spent once it is finalized`, async () => {
        land(payment);
        assert.equal(await kindOf(check(parts)), 'pending');
        chain.pass(32);
        assert.equal(await kindOf(check(parts)), 'spent_otherwise');
      });
    }

    it('but calls another program with the same data is spent once it is finalized', async () => {
      const { payTo } = payment.query;
      const destination = accountOf(payTo);
      const data = Buffer.alloc(10);
      data.writeUInt8(12, 0);
      data.writeBigUInt64LE(1_000_000n, 1);
      const { buyer } = payment;
      const accounts = [buyer.publicKey, new PublicKey(USDC_MINT), destination];
      const instructions = [callOfAnother(accounts, buyer, data)];
      payment = buildSolanaPayment(blockhash, { payTo, buyer, instructions });
      land(payment, { receives: { [destination.toBase58()]: 0n }, commitment: 'finalized' });
      assert.equal(await kindOf(check()), 'spent_otherwise');
    });
  });

  describe('a hint', () => {
    it('saves the search', async () => {
      const transactionHint = land(payment);
      assert.equal(await kindOf(check({ transactionHint })), 'paid');
      assert.equal(chain.endpoint.callsOf('getSignaturesForAddress'), 0);
    });

    for (const hint of ['', 'pending', '0'.repeat(88), `0x${'ab'.repeat(32)}`, randomKey(), SHORT, LONG]) {
      it(`that is no signature (${hint.slice(0, 10)}) is not queried`, async () => {
        const transaction = land(payment);
        await assertPaid(check({ transactionHint: hint }), transaction);
        assert.equal(chain.endpoint.callsOf('getTransaction'), 1);
      });
    }

    it('that names no transaction does not hide the payment', async () => {
      const transaction = land(payment);
      await assertPaid(check({ transactionHint: toBase58(randomBytes(64)) }), transaction);
    });
  });
});
