import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';

export interface ArchivedRow {
  id: string;
  /** The row as JSON. */
  line: string;
}

/** A manifest's entry for a file. */
export interface FileFacts {
  rows: number;
  first_id: string | null;
  last_id: string | null;
  bytes: number;
  sha256: string;
}

type Counted = Pick<FileFacts, 'rows' | 'first_id' | 'last_id'>;

const UNFINISHED = '.unfinished';
/** Characters of JSON. */
const MAX_BATCH_LENGTH = 4_000_000;

/** A gzip file of JSON lines. It gets its final name once it is on disk and was read back. */
export interface ArchiveFile {
  write(rows: readonly ArchivedRow[]): Promise<void>;
  finish(): Promise<FileFacts>;
  /** The file stays, with the suffix `.unfinished`. */
  abandon(): Promise<void>;
}

export function createArchiveFile(path: string): ArchiveFile {
  const gzip = createGzip();
  // finish() and abandon() handle the error.
  const written = pipeline(gzip, createWriteStream(path + UNFINISHED, { mode: 0o600, flush: true }));
  written.catch(() => undefined);
  const counted = noRows();
  return {
    async write(rows) {
      if (rows.length === 0) return;
      for (const row of rows) count(counted, row);
      const isTaken = gzip.write(`${rows.map(({ line }) => line).join('\n')}\n`);
      if (!isTaken) await Promise.race([once(gzip, 'drain'), written]);
    },
    async finish() {
      gzip.end();
      await written;
      const facts = await readBack(path + UNFINISHED);
      if (!isDeepStrictEqual({ ...facts, ...counted }, facts)) {
        const found = `${facts.rows} rows of ${counted.rows}`;
        throw new Error(`${path} does not hold what was written to it: ${found}. Nothing was removed.`);
      }
      await rename(path + UNFINISHED, path);
      return facts;
    },
    async abandon() {
      gzip.destroy();
      await written.catch(() => undefined);
    },
  };
}

/** Reads the file from disk, decompressed, as a reader of the archive would. */
async function readBack(path: string): Promise<FileFacts> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = noRows();
  const lines = linesOf(path, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  for await (const line of lines) count(counted, rowOf(line));
  return { ...counted, bytes, sha256: hash.digest('hex') };
}

/** Batches of at most `maxRows` rows and about MAX_BATCH_LENGTH characters. */
export async function* rowsIn(path: string, maxRows: number): AsyncGenerator<ArchivedRow[]> {
  let batch: ArchivedRow[] = [];
  let length = 0;
  for await (const line of linesOf(path)) {
    batch.push(rowOf(line));
    length += line.length;
    if (batch.length < maxRows && length < MAX_BATCH_LENGTH) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

export function rowOf(line: string): ArchivedRow {
  const { id }: { id: string } = JSON.parse(line);
  return { id, line };
}

function noRows(): Counted {
  return { rows: 0, first_id: null, last_id: null };
}

function count(counted: Counted, { id }: ArchivedRow): void {
  counted.rows += 1;
  if (counted.first_id === null || id < counted.first_id) counted.first_id = id;
  if (counted.last_id === null || id > counted.last_id) counted.last_id = id;
}

export async function* linesOf(
  path: string,
  onChunk: (chunk: Buffer) => void = () => {},
): AsyncGenerator<string> {
  const file = createReadStream(path);
  file.on('data', (chunk) => onChunk(Buffer.from(chunk)));
  yield* linesIn(file, path);
}

/** Splits at line feeds only: JSON may contain other line separators, such as U+2028. */
export async function* linesIn(gzipped: Readable, name: string): AsyncGenerator<string> {
  const plain = createGunzip().setEncoding('utf8');
  gzipped.on('error', (error) => plain.destroy(error));
  let rest = '';
  try {
    for await (const chunk of gzipped.pipe(plain)) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    gzipped.destroy();
    plain.destroy();
  }
  if (rest !== '') throw new Error(`${name} ends in the middle of a line.`);
}
