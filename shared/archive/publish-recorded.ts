import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Knex } from '../db/knex.js';
import type { Month } from '../values/months.js';
import { findPart } from './parts.js';
import { ifMissing, manifestOf, type Part, publishPart } from './write-part.js';

/**
 * Publishes the month's parts that a command recorded and left unpublished, since it was killed, its disk failed or Postgres'
 * answer was lost. A folder whose manifest is not recorded belongs to a running command, or to one that ended before.
 */
export async function* publishRecorded(db: Knex, month: Month, folder: string): AsyncGenerator<Part> {
  for (const name of await readdir(folder).catch(ifMissing)) {
    if (!name.startsWith(`${month}-`) || !name.endsWith('.unfinished')) continue;
    const unfinished = path.join(folder, name);
    const part = await readManifest(unfinished);
    if (part === undefined || !isDeepStrictEqual(await findPart(db, part), part)) continue;
    await publishPart(part, unfinished, folder);
    await rm(unfinished, { recursive: true, force: true });
    yield part;
  }
}

/** Undefined when the folder has no complete manifest. */
async function readManifest(folder: string): Promise<Part | undefined> {
  const names = await readdir(folder).catch(ifMissing);
  const manifest = names.find((name) => name.startsWith('manifest-'));
  if (manifest === undefined) return undefined;
  try {
    const part: Part = JSON.parse(await readFile(path.join(folder, manifest), 'utf8'));
    return manifest === manifestOf(part) ? part : undefined;
  } catch {
    return undefined;
  }
}
