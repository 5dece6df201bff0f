import assert from 'node:assert/strict';
import { MAX_WEBHOOK_BYTES_IN_FLIGHT } from '../../../shared/limits/bounds.js';
import { openPlaces, type Places } from '../../../workers/webhook-delivery/places.js';

const TOTAL = 400;
const MOST = 20;

/** Takes as an account does whose tries never end, until there is nothing for it: turn by turn, one try a host in turn. */
function fill(places: Places, accountId: string, hosts: readonly string[]): number {
  let had = 0;
  for (;;) {
    const { places: count, ofHost } = places.roomOf(accountId, MOST);
    const host =
      hosts.filter((name) => ofHost(name) > 0)[had % hosts.length] ?? hosts.find((name) => ofHost(name) > 0);
    if (count === 0 || host === undefined) return had;
    places.hold(accountId, host, 1);
    had += 1;
  }
}

/** The last few are not to be had where there are as many hosts as that. */
function assertNear(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? 0) - expected) <= 4, `${actual} for ${expected}`);
}

const many = (name: string): string[] => Array.from({ length: 50 }, (_, n) => `${n}.${name}`);

describe('the places of webhook tries', () => {
  it('go to an account alone up to a half, and of these to one host up to a half', () => {
    assertNear(fill(openPlaces(TOTAL), 'a', many('a')), 200);
    assert.equal(fill(openPlaces(TOTAL), 'a', ['one']), 100);
  });

  it('are there for each who comes, after several that hang and want all', () => {
    const places = openPlaces(TOTAL);
    const had = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => fill(places, name, many(name)));
    for (const [n, expected] of [200, 100, 50, 25, 13, 6].entries()) assertNear(had[n], expected);
    assert.ok(places.roomOf('newcomer', MOST).places > 0);
  });

  it('are evened out among those who want all, as tries end', () => {
    const places = openPlaces(TOTAL);
    const ends: (() => void)[] = [];
    const held = { a: 0, b: 0 };
    const take = (name: 'a' | 'b'): boolean => {
      if (places.roomOf(name, 1).places === 0) return false;
      const giveBack = places.hold(name, `${held[name] % 50}.${name}`, 1);
      held[name] += 1;
      ends.push(() => {
        giveBack();
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
    // A third each, and a third free.
    for (const count of [held.a, held.b]) assertNear(count, TOTAL / 3);
  });

  it('of a host are those of one account: another has its own for the same host', () => {
    const places = openPlaces(TOTAL);
    fill(places, 'a', ['shared']);
    assert.deepEqual(places.roomOf('a', MOST).fullHosts, ['shared']);
    assert.ok(places.roomOf('b', MOST).ofHost('shared') > 0);
    assert.ok(places.roomOf('a', MOST).ofHost('other') > 0);
  });

  it('are given back whole', () => {
    const places = openPlaces(TOTAL);
    const given = [places.hold('a', 'h', 3), places.hold('a', 'g', 1), places.hold('a', undefined, 20)];
    assert.equal(places.roomOf('a', TOTAL).places, (376 - 24) / 2);
    for (const giveBack of given) giveBack();
    assert.equal(places.roomOf('a', TOTAL).places, TOTAL / 2);
    assert.equal(places.roomOf('a', TOTAL).ofHost('h'), TOTAL / 4);
  });

  it('are for so many bytes each that all together are bounded, and a heavy body takes several', () => {
    for (const total of [200, TOTAL, 20_000]) {
      const places = openPlaces(total);
      assert.ok(places.bytesOfOne * total < MAX_WEBHOOK_BYTES_IN_FLIGHT + total);
      assert.equal(places.weightOf(0), 1);
      assert.equal(places.weightOf(places.bytesOfOne), 1);
      assert.equal(places.weightOf(places.bytesOfOne + 1), 2);
    }
  });

  it('may be overdrawn by what is heavier than all of them: nobody begins until it has ended', () => {
    const places = openPlaces(TOTAL);
    const giveBack = places.hold('a', 'h', TOTAL + 1);
    assert.equal(places.roomOf('b', MOST).places, 0);
    assert.equal(places.couldUseOneMore('b'), false);
    giveBack();
    assert.ok(places.roomOf('b', MOST).places > 0);
  });
});
