import assert from 'node:assert/strict';
import { InFlight } from '../../../shared/process/in-flight.js';

describe('the items in flight', () => {
  it('are the items that were added and not removed, in any order of removal', () => {
    const inFlight = new InFlight<string>();
    const [first, second, third] = ['a', 'b', 'c'].map((item) => inFlight.add(item));
    assert.deepEqual(inFlight.all(), ['a', 'b', 'c']);
    assert.equal(first?.(), true);
    assert.deepEqual(inFlight.all().sort(), ['b', 'c']);
    assert.equal(third?.(), true);
    assert.equal(second?.(), true);
    assert.deepEqual(inFlight.all(), []);
  });

  it('are removed once, even when another item has moved into the entry', () => {
    const inFlight = new InFlight<string>();
    const gone = inFlight.add('a');
    inFlight.add('b');
    assert.equal(gone(), true);
    assert.equal(gone(), false);
    inFlight.add('c');
    assert.equal(gone(), false);
    assert.deepEqual(inFlight.all().sort(), ['b', 'c']);
  });

  it('may be removed while all are iterated', () => {
    const inFlight = new InFlight<() => boolean>();
    const added: (() => boolean)[] = [];
    for (let n = 0; n < 3; n += 1) added.push(inFlight.add(() => added[n]?.() ?? false));
    const removed = inFlight.all().map((go) => go());
    assert.deepEqual(removed, [true, true, true]);
    assert.deepEqual(inFlight.all(), []);
  });
});
