import assert from 'node:assert/strict';
import { UnderWay } from '../../shared/process/in-flight.js';

describe('what is under way', () => {
  it('is what came and has not gone, whoever goes first', () => {
    const underWay = new UnderWay<string>();
    const [first, second, third] = ['a', 'b', 'c'].map((item) => underWay.add(item));
    assert.deepEqual(underWay.all(), ['a', 'b', 'c']);
    assert.equal(first?.(), true);
    assert.deepEqual(underWay.all().sort(), ['b', 'c']);
    assert.equal(third?.(), true);
    assert.equal(second?.(), true);
    assert.deepEqual(underWay.all(), []);
  });

  it('goes once, also when another stands in its place', () => {
    const underWay = new UnderWay<string>();
    const gone = underWay.add('a');
    underWay.add('b');
    assert.equal(gone(), true);
    assert.equal(gone(), false);
    underWay.add('c');
    assert.equal(gone(), false);
    assert.deepEqual(underWay.all().sort(), ['b', 'c']);
  });

  it('may go while all are gone through', () => {
    const underWay = new UnderWay<() => boolean>();
    const added: (() => boolean)[] = [];
    for (let n = 0; n < 3; n += 1) added.push(underWay.add(() => added[n]?.() ?? false));
    assert.deepEqual(
      underWay.all().map((go) => go()),
      [true, true, true],
    );
    assert.deepEqual(underWay.all(), []);
  });
});
