import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnTime } from '../../../shared/process/turn-time.js';

describe('the time for work of one kind in a turn of the event loop', () => {
  it('is given to all until it is used up, and then in the order in which they came', async () => {
    let now = 0;
    const time = new TurnTime(5, () => now);
    const parsed: string[] = [];
    const answer = (name: string, pieces: number) => {
      let left = pieces;
      const parse = (): void => {
        while (left > 0 && time.ask(parse)) {
          parsed.push(name);
          left -= 1;
          now += 6; // More than there is in a turn.
        }
      };
      parse();
    };
    answer('a', 3);
    answer('b', 1);
    answer('c', 2);
    assert.deepEqual(parsed, ['a'], 'the others wait');
    while (parsed.length < 6) await nextTurn();
    assert.deepEqual(parsed, ['a', 'a', 'b', 'c', 'a', 'c']);
  });

  it('alternates between known peers and new ones', async () => {
    let now = 0;
    const time = new TurnTime(5, () => now);
    const done: string[] = [];
    const goOn = (name: string) => (): void => {
      done.push(name);
      now += 6;
    };
    now = 6;
    assert.equal(time.ask(goOn('first')), true);
    now += 6;
    for (const name of ['n1', 'n2', 'n3', 'n4']) assert.equal(time.ask(goOn(name), 'new'), false);
    for (const name of ['k1', 'k2']) assert.equal(time.ask(goOn(name), 'known'), false);
    while (done.length < 6) await nextTurn();
    assert.deepEqual(done, ['k1', 'n1', 'k2', 'n2', 'n3', 'n4']);
  });

  it('is there again in the next turn', async () => {
    let now = 0;
    const time = new TurnTime(5, () => now);
    const never = (): void => assert.fail('nobody waits');
    for (let turn = 0; turn < 3; turn += 1) {
      assert.equal(time.ask(never), true);
      now += 6;
      await nextTurn();
    }
  });
});
