import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
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

const WAITING = '.unfinished';
/** Characters of a batch. */
const LONG = 4_000_000;

/** Lines, compressed as they come. It has its name once all of it is on the disk and was read back. */
export interface ArchiveFile {
  write(rows: readonly ArchivedRow[]): Promise<void>;
  finish(): Promise<FileFacts>;
  /** What there is of it stays, under the name of one that is unfinished. */
  abandon(): Promise<void>;
}

export async function createArchiveFile(path: string): Promise<ArchiveFile> {
  const handle = await open(path + WAITING, 'w', 0o600);
  const gzip = createGzip();
  // Whoever waits for the end hears of it.
  const written = pipeline(gzip, handle.createWriteStream({ autoClose: false }));
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
      const facts = await toDisk(handle, path, counted);
      await rename(path + WAITING, path);
      return facts;
    },
    async abandon() {
      gzip.destroy();
      await written.catch(() => undefined);
      await handle.close();
    },
  };
}

async function toDisk(handle: FileHandle, path: string, counted: Counted): Promise<FileFacts> {
  await handle.sync();
  await handle.close();
  const read = await readBack(path + WAITING);
  const isSame = (['rows', 'first_id', 'last_id'] as const).every((fact) => read[fact] === counted[fact]);
  if (isSame) return read;
  throw new Error(
    `${path} does not hold what was written to it: ${read.rows} rows of ${counted.rows}. Nothing was removed.`,
  );
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
