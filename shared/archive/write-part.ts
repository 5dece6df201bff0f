import { access, open, readdir, realpath, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { Refusal } from '../errors/refusal.js';
import { now } from '../process/clock.js';
import { hasCode } from '../process/error-code.js';
import { makeFolder } from '../process/make-folder.js';
import { GROWING_TABLES, type GrowingTable, type Month } from '../values/months.js';
import { type ArchiveFile, createArchiveFile, type FileFacts } from './archive-file.js';
import type { Batch } from './read-month.js';

/** The files of one archiving run of a month. After an interrupted deletion the next part holds the remaining rows. */
export interface Part {
  month: Month;
  part: number;
  written_at: string;
  files: (FileFacts & { table: GrowingTable; file: string })[];
}

type PartName = Pick<Part, 'month' | 'part'>;

export function pathOf(folder: string, part: Part, table: GrowingTable): string {
  const file = part.files.find((one) => one.table === table);
  return path.join(folder, file?.file ?? '');
}

/** Writes one file per table and then the manifest. No rows: no folder. */
export async function writePart(
  folder: string,
  { month, part }: PartName,
  batches: AsyncIterable<Batch>,
): Promise<Part> {
  const nameOf = (table: GrowingTable): string => fileOf(table, { month, part });
  const files = new Map<GrowingTable, ArchiveFile>();
  const written: Part = { month, part, written_at: now().toISOString(), files: [] };
  try {
    for await (const { table, rows } of batches) {
      if (files.size === 0) await createFiles(folder, nameOf, files);
      await files.get(table)?.write(rows);
    }
    for (const [table, file] of files) {
      written.files.push({ table, file: nameOf(table), ...(await file.finish()) });
      files.delete(table);
    }
  } finally {
    for (const file of files.values()) await file.abandon();
  }
  if (written.files.length > 0) await writeManifest(path.join(folder, manifestOf(written)), written);
  return written;
}

/** Refuses a folder that holds files of this name, such as another database's: this one has recorded no such part. */
export async function refuseTaken(folder: string, next: PartName): Promise<void> {
  const ours = new Set([manifestOf(next), ...GROWING_TABLES.map((table) => fileOf(table, next))]);
  const taken = (await readdir(folder).catch(ifMissing)).find((name) => ours.has(name));
  if (taken === undefined) return;
  throw new Refusal(
    'parameter_invalid',
    `${taken} is in ${folder} already, and this database has not written it. Nothing of that month was written or removed: choose another folder with --to.`,
  );
}

/** The names in a folder that does not exist. */
export function ifMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}

/** Moves a part into its folder, the manifest last: its presence means that the files are complete. */
export async function publishPart(part: Part, from: string, folder: string): Promise<void> {
  for (const name of [...part.files.map(({ file }) => file), manifestOf(part)])
    await move(name, from, folder);
  await syncNames(await realpath(folder));
}

/**
 * Makes the names in the folder durable, and the folder's own: this command may have made it and folders above, or one that
 * was killed. Folders of another file system were there before.
 */
async function syncNames(folder: string): Promise<void> {
  await syncFolder(folder);
  const { dev } = await stat(folder);
  for (let at = folder; at !== path.dirname(at); ) {
    at = path.dirname(at);
    if ((await stat(at)).dev !== dev) return;
    await syncFolder(at).catch((error: unknown) => {
      // Who may enter a folder and not read it has made none there.
      if (!hasCode(error, 'EACCES')) throw error;
    });
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function move(name: string, from: string, folder: string): Promise<void> {
  try {
    await rename(path.join(from, name), path.join(folder, name));
  } catch (error) {
    // An earlier command, or another one at this moment, may have moved the file.
    await access(path.join(from, name)).then(
      () => Promise.reject(error),
      () => access(path.join(folder, name)),
    );
  }
}

function endingOf({ month, part }: PartName): string {
  return part === 1 ? month : `${month}-part-${part}`;
}

function fileOf(table: GrowingTable, part: PartName): string {
  return `${table}-${endingOf(part)}.ndjson.gz`;
}

export function manifestOf(part: PartName): string {
  return `manifest-${endingOf(part)}.json`;
}

async function createFiles(
  folder: string,
  nameOf: (table: GrowingTable) => string,
  files: Map<GrowingTable, ArchiveFile>,
): Promise<void> {
  await makeFolder(folder, 0o700);
  for (const table of GROWING_TABLES) files.set(table, createArchiveFile(path.join(folder, nameOf(table))));
}

async function writeManifest(file: string, part: Part): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(part, undefined, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
