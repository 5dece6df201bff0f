import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import { createGunzip, createGzip } from 'node:zlib';

export interface ArchivedRow {
  id: string;
  /** The row as JSON. */
  line: string;
}

/** What a manifest says of a file. */
export interface FileFacts {
  rows: number;
  first_id: string | null;
  last_id: string | null;
  bytes: number;
  sha256: string;
}

type Counted = Pick<FileFacts, 'rows' | 'first_id' | 'last_id'>;

const UNFINISHED = '.unfinished';
/** Characters of a batch. */
const LONG = 4_000_000;

/** Lines, compressed as they come. It has its name once all of it is on the disk and was read back. */
export interface ArchiveFile {
  write(rows: readonly ArchivedRow[]): Promise<void>;
  finish(): Promise<FileFacts>;
  /** What there is of it stays, under the name of one that is unfinished. */
  abandon(): Promise<void>;
}

export function createArchiveFile(path: string): ArchiveFile {
  const gzip = createGzip();
  // Whoever waits for the end hears of it.
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

/** As whoever opens the archive finds it. */
export async function readBack(path: string): Promise<FileFacts> {
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

/** Its rows, so many at a time, or fewer when they are long. */
export async function* rowsIn(path: string, most: number): AsyncGenerator<ArchivedRow[]> {
  let batch: ArchivedRow[] = [];
  let length = 0;
  for await (const line of linesOf(path)) {
    batch.push(rowOf(line));
    length += line.length;
    if (batch.length < most && length < LONG) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

function rowOf(line: string): ArchivedRow {
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

/** Split at line feeds alone: what else ends a line elsewhere may stand in JSON. */
export async function* linesOf(
  path: string,
  onChunk: (chunk: Buffer) => void = () => {},
): AsyncGenerator<string> {
  const file = createReadStream(path);
  const plain = createGunzip().setEncoding('utf8');
  file.on('data', (chunk) => onChunk(Buffer.from(chunk)));
  file.on('error', (error) => plain.destroy(error));
  let rest = '';
  try {
    for await (const chunk of file.pipe(plain)) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    file.destroy();
    plain.destroy();
  }
  if (rest !== '') throw new Error(`${path} ends in the middle of a line.`);
}
