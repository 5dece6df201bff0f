import { mkdir, open, rename } from 'node:fs/promises';
import path from 'node:path';
import { now } from '../process/clock.js';
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

export function pathOf(folder: string, part: Part, table: GrowingTable): string {
  const file = part.files.find((one) => one.table === table);
  return path.join(folder, file?.file ?? '');
}

/** Writes one file per table and then the manifest. No rows: no folder. */
export async function writePart(
  folder: string,
  { month, part }: Pick<Part, 'month' | 'part'>,
  batches: AsyncIterable<Batch>,
): Promise<Part> {
  const ending = endingOf({ month, part });
  const nameOf = (table: GrowingTable): string => `${table}-${ending}.ndjson.gz`;
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

/** Moves a part into its folder, the manifest last: its presence means that the files are complete. */
export async function publishPart(part: Part, from: string, folder: string): Promise<void> {
  for (const name of [...part.files.map(({ file }) => file), manifestOf(part)])
    await rename(path.join(from, name), path.join(folder, name));
  // Makes the renames durable.
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function endingOf({ month, part }: Pick<Part, 'month' | 'part'>): string {
  return part === 1 ? month : `${month}-part-${part}`;
}

function manifestOf(part: Part): string {
  return `manifest-${endingOf(part)}.json`;
}

async function createFiles(
  folder: string,
  nameOf: (table: GrowingTable) => string,
  files: Map<GrowingTable, ArchiveFile>,
): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
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
