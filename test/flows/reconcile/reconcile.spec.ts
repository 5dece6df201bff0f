import assert from 'node:assert/strict';
import { transferLog } from '../../../lab/world/chains/evm-logs.js';
import { EVM_WALLET } from '../../../lab/world/shop/factories.js';
import { Payment } from '../../../shared/payments/model.js';
import { countLines, openBooks, type ReportLine } from '../../support/books.js';
import { BASE_SEPOLIA, SOLANA_DEVNET } from '../../support/checkout.js';
import { forAllTests } from '../../support/hooks.js';

const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const STRANGER = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const COMPLETED = ['checkout.session.completed'];
const AT_ONCE = 20;

async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let next = 0; next < all.length; next += AT_ONCE)
    await Promise.all(all.slice(next, next + AT_ONCE).map(work));
}

/** Payments that are kept: with the lost ones, more on one network than are looked up at once. */
const KEPT = 90;
/** Transfers to the merchant's wallet that no authorization moved. */
const STRANGERS = 100;

describe('150 payments, of which 60 are lost with the newest rows of Postgres', () => {
  const books = forAllTests(() => openBooks('reconcile'));
  /** Sessions by how they were paid. */
  const lost = { page: [] as string[], agent: [] as string[], solana: [] as string[], gone: [] as string[] };
  const kept: string[] = [];
  let first: { status: number; lines: ReportLine[]; counts: Record<string, unknown> };

  before(async () => {
    const ways = [books.payByPage, books.payByAgent, books.paySolana];
    const build = async (count: number): Promise<string[]> => {
      const ids: string[] = [];
      for (let built = 0; built < count; built += 1) ids.push((await books.buildSession()).id);
      return ids;
    };
    kept.push(...(await build(KEPT)));
    lost.page = await build(15);
    lost.agent = await build(15);
    lost.solana = await build(15);
    await inGroups([...kept.entries()], async ([index, id]) => ways[index % ways.length]?.(id));
    await books.takeCopy();
    lost.gone = await build(15);
    await inGroups(lost.page, books.payByPage);
    await inGroups(lost.agent, books.payByAgent);
    await inGroups(lost.solana, (id) => books.paySolana(id));
    await inGroups(lost.gone, books.payByPage);
    for (let sent = 0; sent < STRANGERS; sent += 1) {
      const transfer = { asset: USDC, from: STRANGER, payTo: EVM_WALLET, amount: 4_500_000n };
      books.evm.execute([transferLog(transfer)]);
    }
    await books.restoreCopy();
    assert.equal(await Payment.query(books.db).where({ status: 'succeeded' }).resultSize(), KEPT);
    first = await books.reconcile('--repair');
  });

  it('are found by the first run: each is matched, repaired or listed', () => {
    assert.deepEqual(countLines(first.lines), {
      matched: KEPT,
      'unrecorded repaired': 30,
      'unrecorded no_reference': 15,
      'unrecorded session_gone': 15,
    });
    assert.equal(first.status, 1);
    const { unread, ...counts } = first.counts;
    assert.deepEqual(unread, []);
    assert.deepEqual(counts, {
      matched: KEPT,
      unrecorded: 60,
      missing: 0,
      different: 0,
      repaired: 30,
      undecided: 0,
      others: STRANGERS,
    });
  });

  it('are repaired where the transfer names its session, with payment and event', async () => {
    for (const id of [...lost.page, ...lost.solana]) {
      assert.deepEqual(await books.state(id), {
        session: 'complete',
        payments: ['succeeded'],
        events: COMPLETED,
      });
      const line = first.lines.find(({ checkout_session }) => checkout_session === id);
      const payment = await books.payment(id);
      const movement = books.facilitator.ledger.find(
        ({ transaction }) => transaction === payment.transaction,
      );
      assert.ok(movement);
      assert.deepEqual(
        [payment.id, payment.payer, payment.tokenAmount, payment.network, payment.payTo, payment.channel],
        [
          line?.payment,
          movement.from,
          '4500000',
          movement.network,
          movement.to,
          id.length > 0 && movement.network === SOLANA_DEVNET ? 'x402' : 'page',
        ],
      );
      assert.notEqual(payment.proofIndex, null);
    }
  });

  it('are listed where no session can be named: time, amount, payer, transaction', async () => {
    const listed = first.lines.filter(({ because }) => because === 'no_reference');
    for (const { at, token, token_amount, payer, pay_to, transaction, network } of listed) {
      assert.ok(Math.abs(Date.parse(at ?? '') - Date.now()) < 600_000);
      assert.deepEqual([network, token, token_amount, pay_to], [BASE_SEPOLIA, 'USDC', '4500000', EVM_WALLET]);
      assert.ok(
        books.facilitator.ledger.some((one) => one.transaction === transaction && one.from === payer),
      );
    }
    for (const id of lost.agent) assert.equal((await books.session(id)).status, 'open');
  });

  it('are listed with their session where Postgres has lost that, too', () => {
    const gone = first.lines.filter(({ because }) => because === 'session_gone');
    assert.deepEqual(gone.map(({ checkout_session }) => checkout_session).sort(), [...lost.gone].sort());
  });

  it('leave the next run nothing to say, with --repair or without', async () => {
    for (const argv of [[], ['--repair']]) {
      const { status, lines } = await books.reconcile(...argv);
      assert.deepEqual([status, lines], [0, []]);
    }
  });

  it('are what they are when everything is read again, and cannot be counted twice', async () => {
    const payments = await Payment.query(books.db);
    assert.equal(new Set(payments.map(({ payloadKey }) => payloadKey)).size, payments.length);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { status, lines } = await books.reconcile('--repair', '--since', since);
    assert.deepEqual(countLines(lines), {
      matched: KEPT + 30,
      'unrecorded no_reference': 15,
      'unrecorded session_gone': 15,
    });
    assert.equal(status, 1);
    assert.equal(await Payment.query(books.db).resultSize(), payments.length);
  });
});
