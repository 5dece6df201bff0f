import assert from 'node:assert/strict';
import { HeldInput } from '../../../api/process/held-input.js';

describe('held input', () => {
  const cut: string[] = [];
  afterEach(() => cut.splice(0));
  const holder = (name: string) => ({ cut: () => void cut.push(name) });

  it('cuts those who have held some for the longest time, until the rest fits', () => {
    const held = new HeldInput(100);
    const [a, b, c] = [holder('a'), holder('b'), holder('c')];
    held.set(a, 40);
    held.set(b, 30);
    held.set(a, 60);
    assert.deepEqual(cut, []);
    held.set(c, 20);
    assert.deepEqual(cut, ['a']);
    held.set(b, 60);
    held.set(c, 60);
    assert.deepEqual(cut, ['a', 'b']);
  });

  it('spares those who hold less than the average', () => {
    const held = new HeldInput(100);
    for (let n = 0; n < 10; n += 1) held.set(holder(`short ${n}`), 1);
    held.set(holder('a'), 30);
    held.set(holder('b'), 30);
    held.set(holder('c'), 60);
    assert.deepEqual(cut, ['a']);
    held.set(holder('short last'), 1);
    held.set(holder('d'), 40);
    assert.deepEqual(cut, ['a', 'b', 'c']);
  });

  it('forgets who holds nothing any more', () => {
    const held = new HeldInput(100);
    const [a, b] = [holder('a'), holder('b')];
    held.set(a, 90);
    held.set(a, 0);
    held.set(b, 90);
    held.set(a, 10);
    assert.deepEqual(cut, []);
    held.set(a, 20);
    assert.deepEqual(cut, ['b']);
  });
});
