import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { EVM_WALLET } from '../../lab/world/shop/factories.js';
import { loadConfig } from '../../shared/config/config.js';
import { takeLease } from '../../shared/reconcile/lease.js';
import { reconcileRegularly, reconcileWhenDue } from '../../workers/process/reconcile-regularly.js';
import { openBooks } from '../support/books.js';
import { BASE_SEPOLIA, BUYER } from '../support/checkout.js';
import { forAllTests } from '../support/hooks.js';
import { type ManualWorker, openManualWorker } from '../support/money-flow.js';

const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const DAY_SECONDS = 86_400;
const NEVER = new AbortController().signal;

describe('a worker that holds the books against the chains by itself', () => {
  const books = forAllTests(() => openBooks('reconcile_worker'));
  const opened: ManualWorker[] = [];
  afterEach(async () => {
    for (const { deps } of opened.splice(0)) {
      await deps.facilitators.close();
      deps.chains.close();
    }
    await books.startOver();
  });

  function openWorker(settings: Record<string, string> = {}): ManualWorker {
    const set = { ...books.environment, FACILITATOR_URL: books.facilitator.url, REDIS_URL: 'redis://unused' };
    const worker = openManualWorker(loadConfig({ ...set, ...settings }, 'worker'), books.db);
    opened.push(worker);
    return worker;
  }

  function arrives(nonce: string): void {
    books.evm.movePayment({
      asset: USDC,
      from: BUYER.address,
      payTo: EVM_WALLET,
      amount: 4_500_000n,
      nonce,
    });
  }

  const linesOf = async ({ deps }: ManualWorker): Promise<Record<string, number>> => {
    const page = await deps.metrics.own();
    const all = [...page.matchAll(/^checkout_reconcile_(\w+)_total\{\w+="(\w+)"[^}]*\} (\d+)$/gm)];
    return Object.fromEntries(all.map(([, what, name, count]) => [`${what} ${name}`, Number(count)]));
  };

  it('counts what it finds, logs what differs, and repairs nothing', async () => {
    const { id } = await books.buildSession();
    await books.payByAgent((await books.buildSession()).id);
    arrives(books.app.references.nonceOf(id));
    const worker = openWorker();
    await reconcileWhenDue(worker.deps, DAY_SECONDS, NEVER);
    assert.deepEqual(await linesOf(worker), {
      'lines matched': 1,
      'lines unrecorded': 1,
      'lines missing': 0,
      'lines different': 0,
      'runs finished': 1,
      'runs unread': 0,
    });
    assert.deepEqual(
      worker.log.map(({ level, event, session }) => [level, event, session]),
      [['error', 'reconcile.unrecorded', id]],
    );
    assert.equal((await books.session(id)).status, 'open');
    // An operator's report has a position of its own.
    assert.equal((await books.reconcile()).lines.length, 2);
  });

  it('goes on where the last run stopped, when the next is due', async () => {
    const worker = openWorker();
    await reconcileWhenDue(worker.deps, DAY_SECONDS, NEVER);
    await books.payByAgent((await books.buildSession()).id);
    await reconcileWhenDue(worker.deps, DAY_SECONDS, NEVER);
    assert.equal((await linesOf(worker))['runs finished'], 1);
    await books.db.raw(`UPDATE reconcile_turns SET due_at = now()`);
    await reconcileWhenDue(worker.deps, DAY_SECONDS, NEVER);
    const counts = await linesOf(worker);
    assert.deepEqual([counts['runs finished'], counts['lines matched']], [2, 1]);
  });

  it('is one worker at a time, and another when that one has crashed', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, () => takeLease(books.db, DAY_SECONDS)));
    assert.equal(taken.filter((isMine) => isMine).length, 1);
    assert.equal(await takeLease(books.db, DAY_SECONDS), false);
    await books.db.raw(`UPDATE reconcile_turns SET due_at = due_at - interval '601 seconds'`);
    assert.equal(await takeLease(books.db, DAY_SECONDS), true);
  });

  it('does not wait for a lease that a wrong clock has put far ahead', async () => {
    assert.equal(await takeLease(books.db, DAY_SECONDS), true);
    await books.db.raw(`UPDATE reconcile_turns SET due_at = now() + interval '2 days'`);
    assert.equal(await takeLease(books.db, DAY_SECONDS), true);
  });

  it('says which chain it could not read', async () => {
    books.evm.endpoint.fail('unknown_method');
    const worker = openWorker();
    await reconcileWhenDue(worker.deps, DAY_SECONDS, NEVER);
    assert.deepEqual(
      worker.log.map(({ event, network }) => [event, network]),
      [['reconcile.unread', BASE_SEPOLIA]],
    );
    assert.equal((await linesOf(worker))['runs unread'], 1);
  });

  it('leaves the rest to another worker when it stops', async () => {
    await books.payByAgent((await books.buildSession()).id);
    const stopping = new AbortController();
    books.evm.endpoint.onCall = () => stopping.abort();
    const worker = openWorker();
    await reconcileWhenDue(worker.deps, DAY_SECONDS, stopping.signal);
    assert.equal((await linesOf(worker))['runs finished'], 0);
    books.evm.endpoint.onCall = () => {};
    const other = openWorker();
    await reconcileWhenDue(other.deps, DAY_SECONDS, NEVER);
    const counts = await linesOf(other);
    assert.deepEqual([counts['runs finished'], counts['lines matched']], [1, 1]);
  });

  it('does it with RECONCILE_EVERY_HOURS only', async () => {
    const off = openWorker();
    await reconcileRegularly(off.deps, 1).close();
    const on = openWorker({ RECONCILE_EVERY_HOURS: '24' });
    const regular = reconcileRegularly(on.deps, 1);
    await eventually(async () => assert.equal((await linesOf(on))['runs finished'], 1));
    await regular.close();
    assert.deepEqual(
      [(await linesOf(off))['runs finished'], off.deps.config.reconcileEveryHours],
      [0, undefined],
    );
    const [turn] = await books.db('reconcile_turns').select(books.db.raw('due_at - now() AS ahead'));
    assert.equal(turn.ahead.hours, 23);
  });
});
