import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildRefund, buildSession } from '../../lab/world/shop/factories.js';
import { OperatorAction } from '../../shared/accounts/model.js';
import { archiveMonths } from '../../shared/archive/archive.js';
import { Payable } from '../../shared/payables/model.js';
import { isPayloadUsed } from '../../shared/payments/find.js';
import { Payment } from '../../shared/payments/model.js';
import { migrationConfig } from '../../shared/schema/migration-files.js';
import { claimPayable } from '../../shared/settlement/claim.js';
import { newId } from '../../shared/values/ids.js';
import { GROWING_TABLES, type GrowingTable } from '../../shared/values/months.js';
import { client } from '../support/api-client.js';
import { archiveTo, idsIn, linesOf, useArchiveShop } from '../support/archive-shop.js';
import { assertRefused, runCommand } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { buildPaidAndDelivered, inMonth } from '../support/months.js';
import { newPayment } from '../support/new-payment.js';

const EVENT_DEPS = { baseUrl: 'https://pay.example', notifyDeliveries: () => {} };

describe('merchants archive', () => {
  const shop = useArchiveShop('archive');
  useCliDatabase(() => shop.url);

  const archive = (before: string, to = shop.folder) => archiveTo(to, before);
  const archivedIds = (table: GrowingTable): Promise<string[]> => idsIn(shop.folder, table);
  const exists = async (table: GrowingTable, id: string): Promise<boolean> =>
    (await shop.app.db(table).where({ id })).length === 1;

  it('writes a whole month before it removes the rows', async () => {
    const { session, payment, eventId, deliveryId } = await shop.buildPaid('2024-03');
    const expired = await inMonth('2024-03', () =>
      buildSession(shop.app.db, shop.accountId, { status: 'expired' }),
    );
    const later = await shop.buildPaid('2024-04');
    const row = await shop.app.db('payments').where({ id: payment.id }).first();
    const { status, answer } = await archive('2024-04');
    assert.equal(status, 0);
    assert.deepEqual(answer.kept, []);
    assert.deepEqual(
      answer.archived.map(({ month, part, removed, left }: Record<string, unknown>) => [
        month,
        part,
        removed,
        left,
      ]),
      [['2024-03', 1, 5, 0]],
    );
    assert.deepEqual(await archivedIds('payables'), [session.id, expired.id].sort());
    const [line = ''] = await linesOf(shop.folder, 'payments-2024-03.ndjson.gz');
    const archived = JSON.parse(line);
    assert.equal(archived.payload_key, row.payloadKey);
    assert.equal(new Date(archived.claimed_at).getTime(), row.claimedAt.getTime());
    assert.deepEqual(await archivedIds('events'), [eventId]);
    assert.deepEqual(await archivedIds('webhook_deliveries'), [deliveryId]);
    for (const [table, id] of Object.entries({ payables: session.id, payments: payment.id, events: eventId }))
      assert.ok(!(await exists(table as GrowingTable, id)), table);
    assert.ok(await exists('payables', later.session.id));

    const manifest = JSON.parse(await readFile(path.join(shop.folder, 'manifest-2024-03.json'), 'utf8'));
    assert.deepEqual(manifest.files, answer.archived[0].files);
    for (const { file, rows, bytes, sha256 } of manifest.files) {
      const content = await readFile(path.join(shop.folder, file));
      assert.equal(createHash('sha256').update(content).digest('hex'), sha256);
      assert.equal(content.length, bytes);
      assert.equal((await linesOf(shop.folder, file)).length, rows);
    }
    assert.deepEqual(
      (await readdir(shop.folder)).filter((name) => name.endsWith('.unfinished')),
      [],
    );
    const deed = await OperatorAction.query(shop.app.db).orderBy('id', 'desc').first().throwIfNotFound();
    assert.deepEqual([deed.what, deed.arguments], ['archive', { before: '2024-04', to: shop.folder }]);

    await client(shop.app).get(`/c/${session.id}`).expect(404);
    assert.deepEqual((await archive('2024-04')).answer, { archived: [], kept: [] });
  });

  it('keeps signatures and transfers of archived payments used', async () => {
    const proof = { network: 'eip155:84532', transaction: '0xspent', proofIndex: 3 };
    const { payment } = await shop.buildPaid('2024-03', proof);
    const released = await shop.buildPaid('2024-03', { status: 'failed', payloadReleased: true });
    assert.equal((await archive('2024-04')).status, 0);
    const open = await buildSession(shop.app.db, shop.accountId);
    for (const { payloadKey } of [payment, released.payment]) {
      assert.equal(await isPayloadUsed(shop.app.db, payloadKey, open.id), true);
      const claim = await claimPayable(shop.app.db, { ...newPayment(open.id), payloadKey }, EVENT_DEPS);
      assert.equal(claim.kind, 'lost');
    }
    const again = await buildPaidAndDelivered(shop.app.db, {
      accountId: shop.accountId,
      endpointId: shop.endpointId,
      payment: { status: 'processing' },
    });
    const deps = { db: shop.app.db, logger: shop.app.logger, ...EVENT_DEPS };
    const { succeedPayment } = await import('../../shared/settlement/succeed.js');
    const said = { source: 'chain' as const, said: 'found' };
    const found = { transaction: proof.transaction, payer: undefined, proofIndex: proof.proofIndex };
    assert.equal(await succeedPayment(deps, again.payment, { proof: found, said }), 'proof_taken');
    await Payment.query(shop.app.db).findById(again.payment.id).patch({ status: 'succeeded' });
  });

  it('blocks the rollback of its migration, which would forget those signatures', async () => {
    await shop.buildPaid('2024-03');
    assert.equal((await archive('2024-04')).status, 0);
    await assert.rejects(
      shop.app.db.migrate.down({ ...migrationConfig, name: '20261127000900-archive' }),
      /There are archived payments, whose signatures this would forget/,
    );
  });

  it('refuses months with unfinished objects, names the objects, and archives the others', async () => {
    const open = await inMonth('2024-03', () => buildSession(shop.app.db, shop.accountId));
    const undecided = await shop.buildPaid('2024-04', { status: 'processing' });
    const watched = await shop.buildPaid('2024-05', { status: 'failed', stage: 'watch', dueAt: new Date() });
    const undelivered = await shop.buildPaid('2024-06');
    await shop.app
      .db('webhookDeliveries')
      .where({ id: undelivered.deliveryId })
      .update({ status: 'pending' });
    const repaid = await shop.buildPaid('2024-07');
    const refund = await buildRefund(shop.app.db, shop.accountId, { refundedPaymentId: repaid.payment.id });
    const over = await shop.buildPaid('2024-08');
    const { status, stderr, answer } = await archive('2024-09');
    assert.equal(status, 1);
    const kept: { month: string; holds: { kind: string; count: number; example: string }[] }[] = answer.kept;
    assert.deepEqual(
      kept.map(({ month, holds }) => [
        month,
        ...holds.map(({ kind, count, example }) => `${count} ${kind} ${example}`),
      ]),
      [
        ['2024-03', `1 open sessions and refunds ${open.id}`],
        ['2024-04', `1 undecided payments ${undecided.payment.id}`],
        ['2024-05', `1 payments that are still watched ${watched.payment.id}`],
        ['2024-06', `1 deliveries that are not over ${undelivered.deliveryId}`],
        ['2024-07', `1 refunds under way of its payments ${refund.id}`],
      ],
    );
    assert.match(stderr, /^Not everything was archived: 2024-03 holds 1 open sessions and refunds; .*\n$/);
    assert.deepEqual(await archivedIds('payables'), [over.session.id]);

    await Payable.query(shop.app.db).findByIds([open.id, refund.id]).patch({ status: 'expired' });
    await Payment.query(shop.app.db).findById(undecided.payment.id).patch({ status: 'failed' });
    await Payment.query(shop.app.db).findById(watched.payment.id).patch({ stage: null, dueAt: null });
    await shop.app.db('webhookDeliveries').where({ id: undelivered.deliveryId }).update({ status: 'failed' });
    assert.equal((await archive('2024-09')).status, 0);
    // The refund belongs to another month and outlives its payment.
    assert.ok(await exists('payables', refund.id));
  });

  it('puts the rest into the next part after an interrupted removal, and loses no row', async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => shop.buildPaid('2023-05')));
    const stop = all[6]?.session.id ?? '';
    await shop.app.db.raw(`
      CREATE FUNCTION cut_short() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'cut short'; END $$;
      CREATE TRIGGER cut_short BEFORE DELETE ON payables FOR EACH ROW WHEN (OLD.id = '${stop}') EXECUTE FUNCTION cut_short()`);
    assert.match(
      (await runCommand('archive', '--before', '2023-06', '--to', shop.folder)).stderr,
      /cut short/,
    );
    await shop.app.db.raw('DROP FUNCTION cut_short CASCADE');
    assert.ok(!(await exists('payments', all[0]?.payment.id ?? '')));
    assert.ok(await exists('payables', stop));
    const { answer } = await archive('2023-06');
    assert.deepEqual(
      [answer.archived[0].month, answer.archived[0].part, answer.archived[0].left],
      ['2023-05', 2, 0],
    );
    const archived = new Set((await Promise.all(GROWING_TABLES.map(archivedIds))).flat());
    for (const { session, payment, eventId, deliveryId } of all)
      for (const id of [session.id, payment.id, eventId, deliveryId]) assert.ok(archived.has(id), id);
    assert.equal(
      await Payable.query(shop.app.db).where('id', '<', stop).where('id', 'like', 'cs\\_%').resultSize(),
      0,
    );
  });

  it('removes nothing when the receiving process fails', async () => {
    const { session } = await shop.buildPaid('2023-06');
    const refuse = async (): Promise<void> => Promise.reject(new Error('not taken'));
    await assert.rejects(
      archiveMonths(shop.app.db, { before: '2023-07', folder: shop.folder, onWritten: refuse }),
      /not taken/,
    );
    assert.ok(await exists('payables', session.id));
    assert.equal((await archive('2023-07')).answer.archived[0].part, 1);
  });

  it('keeps rows that changed after they were written, with the rows that they refer to', async () => {
    const changed = await shop.buildPaid('2024-03');
    const edited = await shop.buildPaid('2024-03');
    const same = await shop.buildPaid('2024-03');
    const { archived } = await archiveMonths(shop.app.db, {
      before: '2024-04',
      folder: shop.folder,
      onWritten: async () => {
        await shop.app.db('events').where({ id: changed.eventId }).update({ object: '{}' });
        await Payable.query(shop.app.db)
          .findById(edited.session.id)
          .patch({ customerEmail: 'new@mail.example' });
        // A merchant's request to resend an event does this.
        await shop.app.db('webhookDeliveries').insert({
          id: newId('wd_'),
          eventId: changed.eventId,
          endpointId: shop.endpointId,
          status: 'pending',
        });
      },
    });
    assert.deepEqual([archived[0]?.removed, archived[0]?.left], [9, 3]);
    assert.ok(await exists('payables', edited.session.id));
    assert.ok(await exists('events', changed.eventId));
    assert.ok(await exists('payables', changed.session.id));
    assert.ok(!(await exists('payables', same.session.id)));
    const refused = await archive('2024-04');
    assert.equal(refused.answer.kept[0].holds[0].kind, 'deliveries that are not over');
    await shop.app.db('webhookDeliveries').update({ status: 'succeeded' });
    assert.deepEqual((await archive('2024-04')).answer.archived[0].left, 0);
  });

  it('leaves no link of a session that changed meanwhile and whose payment is in the files', async () => {
    const { session, payment } = await shop.buildPaid('2023-09');
    await archiveMonths(shop.app.db, {
      before: '2023-10',
      folder: shop.folder,
      onWritten: async () => {
        await Payable.query(shop.app.db).findById(session.id).patch({ clientReferenceId: 'changed' });
      },
    });
    assert.ok(await exists('payables', session.id));
    assert.ok(!(await exists('payments', payment.id)));
    const link = `/c/${session.id}`;
    for (const [path, accept] of [
      [link, '*/*'],
      [link, 'text/html'],
      [`${link}/status`, '*/*'],
      [`${link}/page`, 'text/html'],
    ] as const)
      await client(shop.app).get(path).set('Accept', accept).expect(404);
  });

  it('requires months and a target', async () => {
    await assertRefused(/--to is missing/, 'archive', '--before', '2024-04');
    await assertRefused(/--before is missing/, 'archive', '--to', shop.folder);
    for (const before of ['2024', '2024-13', '2024-1', '2999-01'])
      await assertRefused(
        /--before must be a month such as 2025-01/,
        'archive',
        '--before',
        before,
        '--to',
        shop.folder,
      );
  });

  it('removes nothing for an empty --to, such as that of a variable that is not set', async () => {
    const { session } = await shop.buildPaid('2023-05');
    await assertRefused(/--to must name a folder/, 'archive', '--before', '2023-06', '--to', '');
    assert.ok(await exists('payables', session.id));
  });
});
