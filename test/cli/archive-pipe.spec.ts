import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable, Writable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { nodeProgram } from '../../lab/world/processes/processes.js';
import { StartedProcess } from '../../lab/world/processes/supervisor.js';
import { ensureBuilt } from '../../local/build/ensure-built.mjs';
import { projectRoot } from '../../local/toolchain/project-root.js';
import { type Archived, type ArchiveRun, copyMonths } from '../../shared/archive/archive.js';
import { pipePart } from '../../shared/archive/pipe-part.js';
import { removeStored } from '../../shared/archive/remove-stored.js';
import { Payable } from '../../shared/payables/model.js';
import { useArchiveShop } from '../support/archive-shop.js';
import { assertRefused, saidBy } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import type { PaidAndDelivered } from '../support/months.js';

const EMPTIED = ['webhook_deliveries', 'events', 'payments', 'payables', 'archived_parts'];

describe('merchants archive --to -', () => {
  const shop = useArchiveShop('archive_pipe');
  useCliDatabase(() => shop.url);
  afterEach(async () => {
    for (const table of EMPTIED) await shop.app.db(table).delete();
  });

  const exists = async ({ session }: PaidAndDelivered): Promise<boolean> =>
    (await Payable.query(shop.app.db).findById(session.id)) !== undefined;

  /** The output of the command. */
  async function copy(before: string): Promise<Buffer> {
    const pieces: Buffer[] = [];
    const out = new Writable({
      write(piece, _encoding, done) {
        pieces.push(piece);
        done();
      },
    });
    const sum = createHash('sha256');
    const onWritten: ArchiveRun['onWritten'] = (part, written) => pipePart(written, part, out, sum);
    await copyMonths(shop.app.db, { before, folder: shop.folder, onWritten });
    return Buffer.concat(pieces);
  }

  const confirm = (stored: Buffer): Promise<Archived> =>
    removeStored(shop.app.db, shop.folder, Readable.from([stored], { objectMode: false }));
  const counts = ({ archived }: Archived): [string, number, number, number][] =>
    archived.map(({ part, removed, left }) => [part.month, part.part, removed, left]);

  it('writes each row with its table, the manifest last, removes nothing, and then what is read back', async () => {
    const paid = await shop.buildPaid('2024-03');
    const copied = await runPiped(['archive', '--before', '2024-04', '--to', '-', '--json']);
    assert.equal(copied.status, 0, copied.stderr);
    const sent = gunzipSync(copied.stdout)
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      sent.slice(0, 2).map(({ table, row }) => [table, row.id]),
      [
        ['payables', paid.session.id],
        ['payments', paid.payment.id],
      ],
    );
    assert.equal(sent.at(-1).manifest.month, '2024-03');
    const { written, sha256, next } = JSON.parse(saidBy(copied));
    assert.equal(written[0].month, '2024-03');
    assert.equal(sha256, createHash('sha256').update(copied.stdout).digest('hex'));
    assert.match(next, /Nothing is removed yet.*archive --confirm/);
    assert.ok(await exists(paid));

    const confirmed = await runPiped(['archive', '--confirm', '--json'], copied.stdout);
    assert.equal(confirmed.status, 0, confirmed.stderr);
    assert.deepEqual(JSON.parse(confirmed.stdout.toString()).archived[0].removed, 4);
    assert.ok(!(await exists(paid)));
  });

  it('leaves rows that changed after they were written to their next part', async () => {
    const [same, edited] = [await shop.buildPaid('2024-03'), await shop.buildPaid('2024-03')];
    const first = await copy('2024-04');
    await Payable.query(shop.app.db).findById(edited.session.id).patch({ customerEmail: 'new@mail.example' });
    const later = await shop.buildPaid('2024-03');
    assert.deepEqual(counts(await confirm(first)), [['2024-03', 1, 7, 1]]);
    assert.deepEqual([await exists(same), await exists(edited), await exists(later)], [false, true, true]);
    const second = await copy('2024-04');
    assert.deepEqual(counts(await confirm(first)), [['2024-03', 1, 0, 1]]);
    assert.deepEqual(counts(await confirm(second)), [['2024-03', 2, 5, 0]]);
    assert.deepEqual(counts(await confirm(second)), [['2024-03', 2, 0, 0]]);
  });

  it('keeps a month that has unfinished work again', async () => {
    const paid = await shop.buildPaid('2024-03');
    const stored = await copy('2024-04');
    await shop.app.db('webhookDeliveries').where({ id: paid.deliveryId }).update({ status: 'pending' });
    const { archived, kept } = await confirm(stored);
    assert.deepEqual([archived, kept[0]?.holds[0]?.example], [[], paid.deliveryId]);
    assert.ok(await exists(paid));
  });

  it('removes nothing of what is stored in part, otherwise, or by another database', async () => {
    const paid = await shop.buildPaid('2024-03');
    const stored = await copy('2024-04');
    const lines = gunzipSync(stored).toString().trimEnd().split('\n');
    const packed = (some: readonly string[]): Buffer => gzipSync(`${some.join('\n')}\n`);
    const renumbered = lines.map((line) => line.replace('"part":1', '"part":7'));
    const wrong: [stored: Buffer, words: RegExp][] = [
      [Buffer.alloc(0), /it is empty, or ends too early/],
      [Buffer.from('ssh: no route to host'), /not the gzip that "archive --to -" wrote/],
      [stored.subarray(0, -20), /ends too early/],
      [gzipSync(''), /it holds no part/],
      [packed(lines.slice(0, -1)), /its last part has no manifest/],
      [packed(lines.slice(1)), /part 1 of 2024-03 is not whole in it: payables has 0 rows/],
      [packed(['{}', ...lines]), /neither a row nor a manifest/],
      [packed(renumbered), /part 7 of 2024-03 is none that this database has written/],
    ];
    for (const [bytes, words] of wrong) await assert.rejects(confirm(bytes), words);
    assert.ok(await exists(paid));
    assert.deepEqual(counts(await confirm(stored)), [['2024-03', 1, 4, 0]]);
  });

  it('is confirmed without another option', async () => {
    await assertRefused(/--confirm stands alone/, 'archive', '--confirm', '--before', '2024-04');
  });
});

/** Runs an operator's command in its own process, with pipes as standard input and output. */
async function runPiped(
  argv: readonly string[],
  input?: Buffer,
): Promise<{ status: number | null; stdout: Buffer; stderr: string }> {
  await ensureBuilt(projectRoot());
  const environment = { DATABASE_URL: process.env.DATABASE_URL ?? '' };
  const args = ['local/commands/merchants.mjs', ...argv];
  // A guarded process takes the end of its standard input for the end of its parent.
  const program = { command: process.execPath, args, environment };
  const command = new StartedProcess(input === undefined ? nodeProgram(args, { environment }) : program);
  if (input !== undefined) command.child.stdin?.end(input);
  const { code, stderr } = await command.ran();
  return { status: code, stdout: command.bytes(), stderr };
}
