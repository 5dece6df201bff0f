import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { LogOutput } from '../../../shared/process/log-output.js';

const LINE = `${'x'.repeat(999)}\n`;
/** More than an output keeps. */
const LINES = 2000;
/** Bytes of room: neither a divisor nor a multiple of a line. */
const ROOM = 65_536;

describe('the log of a process', () => {
  it('is written by the buffer, and completely', () => {
    const { output, written } = open(() => Number.POSITIVE_INFINITY);
    output.write('a\n');
    assert.equal(written(), '');
    output.flush();
    assert.equal(written(), 'a\n');
    for (let line = 0; line < 9; line += 1) output.write(LINE);
    assert.equal(written(), `a\n${LINE.repeat(9)}`);
  });

  for (const code of ['EAGAIN', 'ENOSPC', 'EPIPE'])
    it(`holds no caller while the system answers ${code}, and goes on with whole lines, and the count of the others`, () => {
      let room = 0;
      const { output, written, tries } = open(() => room, code);
      const dropped: number[] = [];
      output.onDropped = (lines) => dropped.push(lines);
      for (let line = 0; line < LINES; line += 1) output.write(LINE);
      assert.equal(written(), '');
      assert.equal(tries(), 1, 'each line asked the system again');
      assert.deepEqual(dropped, []);

      room = ROOM;
      output.flush();
      assert.deepEqual(dropped, []);
      room = Number.POSITIVE_INFINITY;
      output.flush();
      const [lost = 0] = dropped;
      assert.equal(written(), LINE.repeat(LINES - lost));
      assert.ok(lost > 500 && lost < 1500, `${lost} lines were dropped`);
      output.flush();
      assert.deepEqual(dropped, [lost]);
    });

  it('loses nothing to a reader that takes a little at once, and soon more', async () => {
    let room = ROOM;
    const { output, written } = open(() => room);
    const reading = setInterval(() => {
      if (written().length === room) room += ROOM;
    }, 1).unref();
    for (let line = 0; line < LINES; line += 1) {
      output.write(LINE);
      // Ten megabytes in a second.
      if (line % 100 === 99) await sleep(10);
    }
    output.write('last\n');
    await eventually(() => assert.ok(written().endsWith('last\n')));
    assert.ok(written() === `${LINE.repeat(LINES)}last\n`, 'lines were dropped');
    clearInterval(reading);
  });

  it('tells where lines are missing while its reader stays behind', () => {
    let room = 0;
    const { output, written } = open(() => room);
    output.onDropped = (lines) => output.write(`${lines} lost\n`);
    for (let line = 0; line < LINES; line += 1) output.write(LINE);
    room = 1_000_000;
    output.flush();
    output.write('kept\n');
    output.flush();
    assert.equal(written().length, room, 'its reader has caught up');
    room = Number.POSITIVE_INFINITY;
    output.flush();
    const [, before = '', lost] = /^((?:x+\n)+)(\d+) lost\nkept\n$/.exec(written()) ?? [];
    assert.equal(before.length, LINE.length * (LINES - Number(lost)));
  });

  it('asks for room ever more rarely while there is none', async () => {
    const { output, tries } = open(() => 0);
    output.write(LINE.repeat(9));
    await sleep(1000);
    assert.ok(tries() > 1 && tries() < 40, `${tries()} tries`);
  });

  it('waits at the end for a reader that is only slow', () => {
    let asked = 0;
    const { output, written } = open(() => (++asked > 5 ? Number.POSITIVE_INFINITY : 0));
    output.write('last\n');
    output.flushLast();
    assert.equal(written(), 'last\n');
  });

  it('ends all the same when nobody reads', () => {
    const { output, written, tries } = open(() => 0);
    output.write('last\n');
    output.flushLast();
    assert.deepEqual([written(), tries()], ['', 100]);
  });
});

/** An output whose system takes so many bytes altogether, and then answers `code`. */
function open(room: () => number, code = 'EAGAIN') {
  let text = '';
  let tries = 0;
  const output = new LogOutput(1, (_fd, bytes) => {
    tries += 1;
    const free = room() - text.length;
    if (free <= 0) throw Object.assign(new Error(code), { code });
    const taken = bytes.subarray(0, free);
    text += Buffer.from(taken).toString();
    return taken.length;
  });
  return { output, written: () => text, tries: () => tries };
}
