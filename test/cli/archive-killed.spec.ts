import assert from 'node:assert/strict';
import { mkdir, readdir, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { runNode } from '../../lab/world/processes/processes.js';
import { TcpProxy } from '../../lab/world/proxy/tcp-proxy.js';
import { archiveMonths } from '../../shared/archive/archive.js';
import { GROWING_TABLES } from '../../shared/values/months.js';
import { archiveTo, idsIn, useArchiveShop } from '../support/archive-shop.js';
import { runCommand } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';

/** The renames of one command: each table's file gets its name, then each moves into the folder, the manifest last. */
const BEFORE_MOVES = GROWING_TABLES.length;

describe('an archive command that ended when it had recorded a part', () => {
  const shop = useArchiveShop('archive_killed');
  useCliDatabase(() => shop.url);
  afterEach(async () => {
    await shop.app.db('archivedParts').delete();
  });

  const published = async (): Promise<string[]> => (await readdir(shop.folder)).sort();
  /** The files of the first part of March 2024. */
  const FILES = [
    ...GROWING_TABLES.map((table) => `${table}-2024-03.ndjson.gz`),
    'manifest-2024-03.json',
  ].sort();

  async function buildMonth(): Promise<string[]> {
    const { session, payment, eventId, deliveryId } = await shop.buildPaid('2024-03');
    return [session.id, payment.id, eventId, deliveryId];
  }

  async function assertNextCommandFinishes(ids: readonly string[]): Promise<void> {
    const { status, answer } = await archiveTo(shop.folder, '2024-04');
    assert.deepEqual(
      [status, answer.archived.map((one: Record<string, unknown>) => [one.part, one.removed, one.left])],
      [0, [[1, ids.length, 0]]],
    );
    assert.deepEqual(await published(), FILES);
    const archived = await Promise.all(GROWING_TABLES.map((table) => idsIn(shop.folder, table)));
    assert.deepEqual(archived.flat().sort(), ids.toSorted());
  }

  for (const moved of [0, 2, BEFORE_MOVES]) {
    it(`by SIGKILL with ${moved} of its files published: the next command publishes all of them`, async () => {
      const ids = await buildMonth();
      const args = ['archive', '--before', '2024-04', '--to', shop.folder];
      const killed = await runNode(
        ['--import', killAtRename(BEFORE_MOVES + moved), 'local/commands/merchants.mjs', ...args],
        { environment: { DATABASE_URL: shop.url } },
      );
      assert.equal(killed.code, null, killed.stderr);
      assert.equal((await published()).length, moved + 1);
      await assertNextCommandFinishes(ids);
    });
  }

  it('by a folder that took no more files: the next command publishes the rest', async () => {
    const ids = await buildMonth();
    const blocked = path.join(shop.folder, 'events-2024-03.ndjson.gz');
    const onWritten = async (): Promise<void> => void (await mkdir(blocked));
    await assert.rejects(
      archiveMonths(shop.app.db, { before: '2024-04', folder: shop.folder, onWritten }),
      /EISDIR|ENOTEMPTY|EEXIST/,
    );
    await rmdir(blocked);
    await assertNextCommandFinishes(ids);
  });

  it("by a connection that broke before Postgres' answer: the next command publishes its files", async () => {
    const ids = await buildMonth();
    const proxy = await TcpProxy.start(shop.url);
    process.env.DATABASE_URL = proxy.url;
    const cut = proxy.cutNext(/INSERT INTO archived_parts/, { answerBytes: 0 });
    const { status } = await runCommand('archive', '--before', '2024-04', '--to', shop.folder);
    process.env.DATABASE_URL = shop.url;
    await proxy.refuse();
    cut.matched();
    assert.equal(status, 1);
    assert.equal((await shop.app.db('archivedParts').where({ month: '2024-03' })).length, 1);
    await assertNextCommandFinishes(ids);
  });
});

/** A preload that ends its process in place of this rename, counted from 0. */
function killAtRename(nth: number): string {
  return `data:text/javascript,${encodeURIComponent(`
    import fs from 'node:fs/promises';
    import { syncBuiltinESMExports } from 'node:module';
    const { rename } = fs;
    let left = ${nth};
    fs.rename = (...files) => {
      left -= 1;
      if (left < 0) process.kill(process.pid, 'SIGKILL');
      return rename(...files);
    };
    syncBuiltinESMExports();`)}`;
}
