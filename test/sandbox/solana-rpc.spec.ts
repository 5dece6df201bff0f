import assert from 'node:assert/strict';
import { Connection, Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js';
import { SOLANA_DEVNET } from '../../lab/sandbox/networks/networks.js';
import { type Cluster, startCluster } from '../../lab/sandbox/solana/cluster.js';
import { advanceClock, nowMs, resetClock } from '../../shared/process/clock.js';

const CONFIRMED = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;

/** Uses the client with which the service checks the chain. */
describe('the local Solana', () => {
  let cluster: Cluster;
  let rpc: Connection;
  const payer = Keypair.generate();
  const receiver = Keypair.generate().publicKey;

  beforeEach(async () => {
    cluster = await startCluster({ network: SOLANA_DEVNET, port: 0 });
    cluster.fund(payer.publicKey.toBase58());
    rpc = new Connection(cluster.url, 'confirmed');
  });
  afterEach(async () => {
    resetClock();
    await cluster.stop();
  });

  async function build(lamports: number): Promise<Buffer> {
    const { blockhash } = await rpc.getLatestBlockhash();
    const transaction = new Transaction({ feePayer: payer.publicKey, recentBlockhash: blockhash });
    transaction.add(SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: receiver, lamports }));
    transaction.sign(payer);
    return transaction.serialize();
  }

  async function transfer(lamports: number): Promise<string> {
    return await rpc.sendRawTransaction(await build(lamports));
  }

  it('is devnet by its genesis hash', async () => {
    assert.equal(`solana:${(await rpc.getGenesisHash()).slice(0, 32)}`, SOLANA_DEVNET.caip2);
  });

  it('lists transactions by account, newest first, between two signatures and up to a limit', async () => {
    const sent: string[] = [];
    for (const lamports of [1_000_000, 1_000_001, 1_000_002, 1_000_003])
      sent.unshift(await transfer(lamports));
    const list = async (options: object): Promise<string[]> => {
      const found = await rpc.getSignaturesForAddress(receiver, options);
      return found.map(({ signature }) => signature);
    };
    assert.deepEqual(await list({}), sent);
    assert.deepEqual(await list({ limit: 2 }), sent.slice(0, 2));
    assert.deepEqual(await list({ before: sent[0] }), sent.slice(1));
    assert.deepEqual(await list({ before: sent[0], until: sent[3] }), sent.slice(1, 3));
    assert.deepEqual(await list({ before: '1'.repeat(64) }), []);
  });

  it('shows a transaction at the commitments that it has reached', async () => {
    cluster.setBlocks('slow');
    const signature = await transfer(1_000_000);
    const reached = async (): Promise<unknown[]> => {
      const { value } = await rpc.getSignatureStatus(signature, { searchTransactionHistory: true });
      const confirmed = await rpc.getSignaturesForAddress(receiver, {}, 'confirmed');
      const finalized = await rpc.getSignaturesForAddress(receiver, {}, 'finalized');
      const found = await rpc.getTransaction(signature, CONFIRMED);
      return [value?.confirmationStatus, confirmed.length, finalized.length, found !== null];
    };
    assert.deepEqual(await reached(), ['processed', 0, 0, false]);
    advanceClock(3000);
    assert.deepEqual(await reached(), ['confirmed', 1, 0, true]);
    advanceClock(1200);
    assert.deepEqual(await reached(), ['finalized', 1, 1, true]);
  });

  it('reports the effects of a transaction', async () => {
    const signature = await transfer(1_234_567);
    const landed = await rpc.getTransaction(signature, CONFIRMED);
    assert.equal(landed?.meta?.err, null);
    assert.equal(landed?.transaction.message.getAccountKeys().get(1)?.toBase58(), receiver.toBase58());
    assert.equal(await rpc.getBalance(receiver), 1_234_567);
    assert.ok(Math.abs((landed?.blockTime ?? 0) - nowMs() / 1000) < 60);
    const parsed = await rpc.getParsedTransaction(signature, { maxSupportedTransactionVersion: 0 });
    assert.equal(parsed?.transaction.message.accountKeys[0]?.signer, true);
  });

  it('lands a message once, and only while its blockhash is valid', async () => {
    const wire = await build(1_000_000);
    await rpc.sendRawTransaction(wire);
    await assert.rejects(rpc.sendRawTransaction(wire), /AlreadyProcessed/);
    const { blockhash } = await rpc.getLatestBlockhash();
    const late = await build(1_000_001);
    assert.equal((await rpc.isBlockhashValid(blockhash)).value, true);
    advanceClock(61_000);
    assert.equal((await rpc.isBlockhashValid(blockhash)).value, false);
    await assert.rejects(rpc.sendRawTransaction(late), /Blockhash not found/);
    const unseen = await rpc.sendRawTransaction(late, { skipPreflight: true });
    assert.equal((await rpc.getSignatureStatus(unseen)).value, null);
  });

  it('says why a transaction fails', async () => {
    await assert.rejects(transfer(10 ** 15), /custom program error: 0x1/);
    const broken = await build(1_000_000);
    broken[10] = (broken[10] ?? 0) ^ 1;
    await assert.rejects(rpc.sendRawTransaction(broken), /signature verification failure/);
  });

  it('keeps transactions pending while halted, until it resumes or drops them', async () => {
    cluster.setBlocks('halted');
    const first = await transfer(1_000_000);
    cluster.ledger.dropPending();
    const second = await transfer(1_000_001);
    assert.equal((await rpc.getSignatureStatus(second)).value, null);
    cluster.setBlocks('at_once');
    assert.equal((await rpc.getSignatureStatus(first)).value, null);
    assert.equal((await rpc.getSignatureStatus(second)).value?.err, null);
  });

  it('has the tokens at their real mints, owned by their real token programs', async () => {
    for (const { address, decimals } of SOLANA_DEVNET.tokens) {
      const mint = new PublicKey(address);
      const found = await rpc.getParsedTokenAccountsByOwner(payer.publicKey, { mint });
      const { tokenAmount } = found.value[0]?.account.data.parsed.info ?? {};
      assert.deepEqual([tokenAmount.uiAmountString, tokenAmount.decimals], ['1000000', decimals]);
      const account = found.value[0]?.pubkey ?? PublicKey.default;
      assert.equal((await rpc.getTokenAccountBalance(account)).value.uiAmount, 1_000_000);
    }
  });
});
