import assert from 'node:assert/strict';
import { pieceLength } from '../../../api/process/piece-length.js';

const SHORTEST = 'GET / HTTP/1.1\r\n\r\n';

describe('a piece of input', () => {
  const length = (text: string, room: number): number => pieceLength(Buffer.from(text), room);

  it('is everything, while that cannot hold more requests', () => {
    assert.equal(length(SHORTEST.repeat(31), 32), 31 * 18);
    assert.equal(length('x', 0), 1);
  });

  it('holds at most as many shortest requests as there is room for', () => {
    for (const room of [1, 2, 3, 31]) assert.equal(length(SHORTEST.repeat(100), room), room * 18, `${room}`);
  });

  it('holds no whole request when there is no room: only the end of a body', () => {
    assert.equal(length(`}${SHORTEST.repeat(100)}`, 0), 18);
  });

  it('reaches to the end of a long head, and not beyond', () => {
    const long = `GET / HTTP/1.1\r\nX: ${'x'.repeat(9000)}\r\n\r\n`;
    assert.equal(length(long + SHORTEST.repeat(10), 3), long.length);
    assert.equal(length(long.replaceAll('\r', '') + SHORTEST.repeat(10), 3), long.length - 3);
  });

  it('is limited where no head ends', () => {
    assert.equal(length('x'.repeat(60_000), 32), 31 * 18 + 16 * 1024);
  });
});
