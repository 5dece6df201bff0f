import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { archiveMonths } from '../../shared/archive/archive.js';
import type { Knex } from '../../shared/db/knex.js';
import { Payable } from '../../shared/payables/model.js';
import { GROWING_TABLES } from '../../shared/values/months.js';
import { archiveTo, idsIn, useArchiveShop } from '../support/archive-shop.js';
import { runCommand } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';

describe('a folder that more than one archive command writes to', () => {
  const shop = useArchiveShop('archive_folder');
  useCliDatabase(() => shop.url);

  it('loses no row when a frozen run goes on after another one has archived the month', async () => {
    const { eventId, deliveryId } = await shop.buildPaid('2023-07');
    // The frozen run has read the month's session, and neither its payment nor its event.
    const frozen = freezeAfterFirstRows(shop.app.db);
    const first = archiveMonths(frozen.db, {
      before: '2023-08',
      folder: shop.folder,
      onWritten: async () => {},
    });
    const ended = first.catch((error: unknown) => error);
    await frozen.isFrozen;
    const { answer } = await archiveTo(shop.folder, '2023-08');
    assert.deepEqual([answer.archived[0].part, answer.archived[0].removed], [1, 4]);
    frozen.goOn();
    const refusal = await ended;
    assert.deepEqual(await idsIn(shop.folder, 'events'), [eventId]);
    assert.deepEqual(await idsIn(shop.folder, 'webhook_deliveries'), [deliveryId]);
    assert.match(String(refusal), /Another archive command has written part 1 of 2023-07 meanwhile/);
    assert.equal((await readdir(shop.folder)).length, GROWING_TABLES.length + 1);
  });

  it('writes over no file of another database', async () => {
    const { session } = await shop.buildPaid('2023-09');
    const theirs = path.join(shop.folder, 'events-2023-09.ndjson.gz');
    await writeFile(theirs, 'theirs');
    const { status, stderr } = await runCommand('archive', '--before', '2023-10', '--to', shop.folder);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /events-2023-09\.ndjson\.gz is in \S+ already, and this database has not written it/,
    );
    assert.equal(await readFile(theirs, 'utf8'), 'theirs');
    assert.ok(await Payable.query(shop.app.db).findById(session.id));
    await rm(theirs);
    assert.equal((await archiveTo(shop.folder, '2023-10')).answer.archived[0].part, 1);
  });

  it('is made where it can be; elsewhere the command ends, and removes nothing', async () => {
    const { session } = await shop.buildPaid('2023-11');
    const { status, stderr } = await runCommand('archive', '--before', '2023-12', '--to', '/proc/archive');
    assert.equal(status, 1);
    assert.match(stderr, /The command failed: (ENOENT|EROFS): .*, mkdir '\/proc/);
    assert.ok(await Payable.query(shop.app.db).findById(session.id));
    assert.equal((await archiveTo(path.join(shop.folder, 'vault', '2023'), '2023-12')).status, 0);
  });
});

/** The database as a process sees it that is frozen once a transaction has given it rows, and goes on when it is told to. */
function freezeAfterFirstRows(db: Knex): { db: Knex; isFrozen: Promise<unknown>; goOn(): void } {
  const moments = new EventEmitter();
  const isFrozen = once(moments, 'frozen');
  const goesOn = once(moments, 'goes on');
  const transaction = async <T>(work: (trx: Knex.Transaction) => Promise<T>): Promise<T> => {
    const result = await db.transaction(work);
    if (!Array.isArray(result) || result.length === 0) return result;
    moments.emit('frozen');
    await goesOn;
    return result;
  };
  const frozen = new Proxy(db, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  });
  return { db: frozen, isFrozen, goOn: () => void moments.emit('goes on') };
}
