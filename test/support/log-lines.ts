import { Writable } from 'node:stream';

/** Where a logger writes, and what it has written. */
export function logLines(): { sink: Writable; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { sink, lines };
}
