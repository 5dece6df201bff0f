import type { Hash } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { linesOf } from './archive-file.js';
import type { Part } from './write-part.js';

/**
 * Writes a part to a stream as gzip: one line per row, `{"table":"payments","row":{…}}`, and the manifest last. Several
 * parts may follow each other, since concatenated gzip members are one gzip file. Resolves when the pipe has taken everything,
 * which does not mean that its reader has. `sum` takes in the bytes.
 */
export async function pipePart(folder: string, part: Part, out: Writable, sum: Hash): Promise<void> {
  const gzip = createGzip();
  const sent = send(gzip, out, sum);
  sent.catch(() => gzip.destroy());
  const write = async (line: string): Promise<void> => {
    if (!gzip.write(`${line}\n`)) await Promise.race([once(gzip, 'drain'), sent]);
  };
  try {
    for (const { table, file } of part.files) {
      for await (const row of linesOf(path.join(folder, file)))
        await write(`{"table":"${table}","row":${row}}`);
    }
    await write(JSON.stringify({ manifest: part }));
    gzip.end();
  } catch (error) {
    gzip.destroy();
    await sent;
    throw error;
  }
  await sent;
}

/** Waits until each piece is taken, so that memory stays bounded. */
async function send(pieces: AsyncIterable<Buffer>, out: Writable, sum: Hash): Promise<void> {
  for await (const piece of pieces) {
    sum.update(piece);
    await new Promise<void>((resolve, reject) => {
      out.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }
}
