import assert from 'node:assert/strict';
import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../../shared/limits/bounds.js';
import { openProcessSlots, type ProcessSlots } from '../../../workers/webhook-delivery/process-slots.js';

const TOTAL = 400;
const MOST = 20;

/** Takes slots for an account whose tries never end, one try per host in turn, until it gets none. */
function fill(slots: ProcessSlots, accountId: string, hosts: readonly string[]): number {
  let had = 0;
  for (;;) {
    const { slots: count, ofHost } = slots.allowanceOf(accountId, MOST);
    const host =
      hosts.filter((name) => ofHost(name) > 0)[had % hosts.length] ?? hosts.find((name) => ofHost(name) > 0);
    if (count === 0 || host === undefined) return had;
    slots.take(accountId, host, 1);
    had += 1;
  }
}

/** With this many hosts the last few slots cannot be taken. */
function assertNear(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? 0) - expected) <= 4, `${actual} for ${expected}`);
}

const many = (name: string): string[] => Array.from({ length: 50 }, (_, n) => `${n}.${name}`);

describe('the slots of webhook tries', () => {
  it('go to a single account up to a half, and to one host up to a half of these', () => {
    assertNear(fill(openProcessSlots(TOTAL), 'a', many('a')), 200);
    assert.equal(fill(openProcessSlots(TOTAL), 'a', ['one']), 100);
  });

  it('are left for a new account while several hanging accounts want all', () => {
    const slots = openProcessSlots(TOTAL);
    const had = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => fill(slots, name, many(name)));
    for (const [n, expected] of [200, 100, 50, 25, 13, 6].entries()) assertNear(had[n], expected);
    assert.ok(slots.allowanceOf('newcomer', MOST).slots > 0);
  });

  it('are evened out among greedy accounts as tries end', () => {
    const slots = openProcessSlots(TOTAL);
    const ends: (() => void)[] = [];
    const held = { a: 0, b: 0 };
    const take = (name: 'a' | 'b'): boolean => {
      if (slots.allowanceOf(name, 1).slots === 0) return false;
      const release = slots.take(name, `${held[name] % 50}.${name}`, 1);
      held[name] += 1;
      ends.push(() => {
        release();
        held[name] -= 1;
      });
      return true;
    };
    while (take('a'));
    for (let turn = 0; turn < 1000; turn += 1) {
      take('b');
      take('a');
      ends.shift()?.();
    }
    // Each account has a third, and a third is free.
    for (const count of [held.a, held.b]) assertNear(count, TOTAL / 3);
  });

  it('of a host count per account: another account has its own for the same host', () => {
    const slots = openProcessSlots(TOTAL);
    fill(slots, 'a', ['shared']);
    assert.deepEqual(slots.allowanceOf('a', MOST).fullHosts, ['shared']);
    assert.ok(slots.allowanceOf('b', MOST).ofHost('shared') > 0);
    assert.ok(slots.allowanceOf('a', MOST).ofHost('other') > 0);
  });

  it('are released whole', () => {
    const slots = openProcessSlots(TOTAL);
    const taken = [slots.take('a', 'h', 3), slots.take('a', 'g', 1), slots.take('a', undefined, 20)];
    assert.equal(slots.allowanceOf('a', TOTAL).slots, (376 - 24) / 2);
    for (const release of taken) release();
    assert.equal(slots.allowanceOf('a', TOTAL).slots, TOTAL / 2);
    assert.equal(slots.allowanceOf('a', TOTAL).ofHost('h'), TOTAL / 4);
  });

  it('stand for a limited number of bytes each, and a large body takes several', () => {
    for (const total of [200, TOTAL, 20_000]) {
      const slots = openProcessSlots(total);
      assert.ok(slots.bytesPerSlot * total < MAX_WEBHOOK_BYTES_IN_FLIGHT + total);
      assert.equal(slots.slotsFor(0), 1);
      assert.equal(slots.slotsFor(slots.bytesPerSlot), 1);
      assert.equal(slots.slotsFor(slots.bytesPerSlot + 1), 2);
    }
  });

  it('may be overdrawn by a body larger than all of them, and then no account starts until it has ended', () => {
    const slots = openProcessSlots(TOTAL);
    const release = slots.take('a', 'h', TOTAL + 1);
    assert.equal(slots.allowanceOf('b', MOST).slots, 0);
    assert.equal(slots.couldUseOneMore('b'), false);
    release();
    assert.ok(slots.allowanceOf('b', MOST).slots > 0);
  });
});
