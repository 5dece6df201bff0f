import path from 'node:path';
import type { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from '../db/knex.js';
import { Refusal } from '../errors/refusal.js';
import { GROWING_TABLES, type GrowingTable } from '../values/months.js';
import type { Archived } from './archive.js';
import { type ArchiveFile, createArchiveFile, linesIn, rowOf } from './archive-file.js';
import { listUnfinished } from './at-rest.js';
import { findPart } from './parts.js';
import { removeWritten } from './remove-month.js';
import type { Part } from './write-part.js';

/**
 * Deletes rows by the stored bytes themselves, as an archive's copy is read back through a pipe: the rows of a part are
 * deleted when the part is whole and was written by this database. A row whose text has changed since stays, as does a row
 * that the part lacks. `folder` holds one part at a time.
 */
export async function removeStored(db: Knex, folder: string, stored: Readable): Promise<Archived> {
  const done: Archived = { archived: [], kept: [] };
  for await (const part of partsIn(folder, stored)) {
    const { month } = part;
    const manifest = { ...part, files: part.files.map(({ spooled: _spooled, ...file }) => file) };
    if (!isDeepStrictEqual(await findPart(db, part), manifest))
      throw refused(`part ${part.part} of ${month} is none that this database has written`);
    const holds = await listUnfinished(db, month);
    if (holds.length > 0) {
      done.kept.push({ month, holds });
      continue;
    }
    const files = part.files.map(({ spooled, ...file }) => ({ ...file, file: spooled }));
    done.archived.push({ part: manifest, ...(await removeWritten(db, folder, { ...part, files })) });
  }
  if (done.archived.length + done.kept.length === 0) throw refused('it holds no part');
  return done;
}

/** A part whose rows are in files of `folder`. */
interface SpooledPart extends Part {
  files: (Part['files'][number] & { spooled: string })[];
}

const ROW = /^\{"table":"(?<table>[a-z_]+)","row":(?<row>.*)\}$/s;

async function* partsIn(folder: string, stored: Readable): AsyncGenerator<SpooledPart> {
  let files = new Map<GrowingTable, ArchiveFile>();
  try {
    for await (const line of readWhole(stored)) {
      const { table, row } = ROW.exec(line)?.groups ?? {};
      const ofTable = GROWING_TABLES.find((one) => one === table);
      if (files.size === 0) files = openFiles(folder);
      if (ofTable !== undefined && row !== undefined) {
        await files.get(ofTable)?.write([rowOf(row)]);
        continue;
      }
      yield await finish(files, readManifest(line));
      files = new Map();
    }
    if (files.size > 0) throw refused('its last part has no manifest');
  } finally {
    for (const file of files.values()) await file.abandon();
  }
}

async function* readWhole(stored: Readable): AsyncGenerator<string> {
  try {
    yield* linesIn(stored, 'standard input');
  } catch (error) {
    throw refused(whyUnread(error));
  }
}

function whyUnread(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'Z_BUF_ERROR') return 'it is empty, or ends too early';
  if (code === 'Z_DATA_ERROR') return `it is not the gzip that "archive --to -" wrote (${error.message})`;
  return error.message;
}

function nameOf(table: GrowingTable): string {
  return `${table}.ndjson.gz`;
}

function openFiles(folder: string): Map<GrowingTable, ArchiveFile> {
  return new Map(
    GROWING_TABLES.map((table) => [table, createArchiveFile(path.join(folder, nameOf(table)))] as const),
  );
}

function readManifest(line: string): Part {
  try {
    const { manifest }: { manifest?: Part } = JSON.parse(line);
    if (Array.isArray(manifest?.files)) return manifest;
  } catch {
    // The line is refused below.
  }
  throw refused('it has a line that is neither a row nor a manifest');
}

/** Compares the rows with the manifest: a stored file may have lost some. */
async function finish(files: Map<GrowingTable, ArchiveFile>, manifest: Part): Promise<SpooledPart> {
  const spooled: SpooledPart = { ...manifest, files: [] };
  for (const [table, file] of files) {
    const { rows, first_id, last_id } = await file.finish();
    const written = manifest.files.find((one) => one.table === table);
    if (written === undefined || !isDeepStrictEqual({ ...written, rows, first_id, last_id }, written))
      throw refused(
        `part ${manifest.part} of ${manifest.month} is not whole in it: ${table} has ${rows} rows`,
      );
    spooled.files.push({ ...written, spooled: nameOf(table) });
  }
  return spooled;
}

function refused(why: string): Refusal {
  return new Refusal(
    'parameter_invalid',
    `What is stored cannot be confirmed: ${why}. Nothing was removed from there on.`,
  );
}
