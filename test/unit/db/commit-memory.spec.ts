import assert from 'node:assert/strict';
import {
  type CommitMemory,
  type Loss,
  openCommitMemory,
  type Position,
} from '../../../shared/db/commit-memory.js';

const at = (flushed: number, timeline = 1, beganBy = flushed): Position => ({
  server: '7',
  timeline,
  flushed,
  beganBy,
});

describe("the memory of Postgres' position", () => {
  let losses: Loss[];
  let memory: CommitMemory;
  beforeEach(() => {
    losses = [];
    memory = openCommitMemory((loss) => losses.push(loss));
  });

  const read = (position: Position | undefined): void => memory.answer(memory.ask(), position);
  const kinds = (): string[] => losses.map(({ kind }) => kind);

  it('finds nothing while Postgres goes on, answers overtake each other, or it does not tell', () => {
    read(at(10));
    const early = memory.ask();
    read(at(20));
    memory.answer(early, at(12));
    read(undefined);
    read(at(20));
    assert.deepEqual(kinds(), []);
    assert.equal(memory.latest()?.position.flushed, 20);
    assert.equal(memory.mayHaveLost(), false);
  });

  const changes: [name: string, found: Position, kind: string | undefined][] = [
    ['an earlier position', at(19), 'lost_commits'],
    ['an earlier timeline, however far it is', at(99, 1), 'lost_commits'],
    ['a later timeline that began before the position', at(99, 3, 19), 'lost_commits'],
    ['a later timeline that is before the position', at(19, 3), 'lost_commits'],
    ['a later timeline that began at the position', at(99, 3, 20), 'failed_over'],
    ['another cluster', { ...at(5, 1), server: '8' }, 'failed_over'],
    ['a cluster that tells its name no longer', { ...at(20, 2), server: null }, undefined],
  ];
  for (const [name, found, kind] of changes) {
    it(`reports ${kind ?? 'nothing'} when it finds ${name} after position 20 of timeline 2`, () => {
      read(at(20, 2));
      read(found);
      assert.deepEqual(kinds(), kind === undefined ? [] : [kind]);
      assert.equal(memory.mayHaveLost(), kind !== undefined);
      // The new server is what later readings are compared with.
      read({ ...found, flushed: found.flushed + 1 });
      assert.equal(losses.length, kind === undefined ? 0 : 1);
    });
  }

  it('reports a loss once, though several connections find it', () => {
    read(at(20));
    const [one, other] = [memory.ask(), memory.ask()];
    memory.answer(one, at(10, 2));
    memory.answer(other, at(11, 2));
    assert.deepEqual(kinds(), ['lost_commits']);
  });

  it('finds the loss of a failover when the first checkpoint tells where the timeline began', () => {
    read(at(20));
    read(at(99, 2));
    read(at(100, 2));
    assert.deepEqual(kinds(), ['failed_over']);
    read(at(101, 2, 19));
    read(at(102, 2, 19));
    assert.deepEqual(kinds(), ['failed_over', 'lost_commits']);
    assert.deepEqual([losses[1]?.known?.flushed, memory.doubted()], [20, 'lost_commits']);
  });

  it('begins the window when the newest position was read that Postgres still has', () => {
    const times = [10, 20, 30].map((flushed) => {
      const asked = memory.ask();
      const readAt = new Date(asked.at.getTime() + flushed * 1000);
      memory.answer({ ...asked, at: readAt }, at(flushed));
      return readAt;
    });
    read(at(29, 2, 21));
    assert.deepEqual(losses[0]?.from, times[1]);
  });

  it('keeps the beginning of a long window while it forgets positions in between', () => {
    for (let n = 1; n <= 10_000; n += 1) {
      const asked = memory.ask();
      memory.answer({ ...asked, at: new Date(n * 1000) }, at(n));
    }
    read(at(9001, 2));
    const from = losses[0]?.from?.getTime() ?? assert.fail();
    assert.ok(from <= 9_001_000 && from > 8_800_000, `${from}`);
  });

  it('compares with what another process has remembered', () => {
    read(at(15));
    memory.recall(at(20), new Date(5000));
    assert.deepEqual(kinds(), []);
    read(at(21));
    assert.deepEqual(kinds(), [], 'the other process had read later');

    const late = openCommitMemory((loss) => losses.push(loss));
    late.recall(at(20), new Date(5000));
    late.answer(late.ask(), at(16));
    assert.deepEqual(kinds(), ['lost_commits']);
    assert.equal(losses[0]?.from, undefined);
  });

  it('is not replaced by an answer to an earlier question', () => {
    read(at(30, 2));
    const asked = memory.ask();
    memory.recall(at(40), new Date(5000));
    memory.answer(asked, at(31, 2));
    read(at(32, 2));
    assert.deepEqual(kinds(), ['lost_commits']);
  });

  it('doubts for longer than the window', () => {
    assert.equal(memory.mayHaveLost(), false);
    memory.doubt(60_000);
    assert.equal(memory.mayHaveLost(), true);
    assert.deepEqual(kinds(), []);
  });
});
