import assert from 'node:assert/strict';
import { type FetchSlots, openFetchSlots } from '../../../api/merchant-images/fetch-slots.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  MAX_IMAGE_FETCHES,
  MAX_IMAGE_FETCHES_OF_ACCOUNT,
  MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST,
  MAX_IMAGE_FETCHES_OF_HOST,
  MAX_IMAGES_WAITING,
  MAX_IMAGES_WAITING_OF_ACCOUNT,
} from '../../../shared/limits/bounds.js';

const LONG_MS = 60_000;

describe('slots for fetching images', () => {
  /** The releases of the granted slots, and the number of refusals. */
  async function ask(slots: FetchSlots, all: [accountId: string, host: string][], waitMs = LONG_MS) {
    const releases: (() => void)[] = [];
    let refused = 0;
    for (const [accountId, host] of all) {
      void slots.take(waitMs, accountId, host).then((release) => {
        if (release === undefined) refused += 1;
        else releases.push(release);
      });
    }
    await new Promise(setImmediate);
    return { releases, refused: () => refused };
  }

  /** In both names "#" stands for the number of the caller. */
  const many = (count: number, accountId: string, host: string): [string, string][] =>
    Array.from({ length: count }, (_, n) => [accountId.replace('#', `${n}`), host.replace('#', `${n}`)]);

  async function end({ releases }: { releases: (() => void)[] }): Promise<void> {
    while (releases.length > 0) {
      releases.pop()?.();
      await new Promise(setImmediate);
    }
  }

  it('are limited per account, however many hosts it names', async () => {
    const slots = openFetchSlots();
    const hog = await ask(slots, many(70, 'hog', 'h#'));
    assert.equal(hog.releases.length, MAX_IMAGE_FETCHES_OF_ACCOUNT);
    const other = await ask(slots, [['other', 'o']]);
    assert.equal(other.releases.length, 1);
    await end(other);
    await end(hog);
  });

  it('are limited per host, however many accounts name it', async () => {
    const slots = openFetchSlots();
    const fetches = await ask(slots, many(50, 'a#', 'victim'));
    assert.equal(fetches.releases.length, MAX_IMAGE_FETCHES_OF_HOST);
    await end(fetches);
  });

  it('at a host that hangs are left to the other accounts that use it', async () => {
    const slots = openFetchSlots();
    const hog = await ask(slots, many(50, 'hog', 'shared'));
    assert.equal(hog.releases.length, MAX_IMAGE_FETCHES_OF_ACCOUNT_AT_HOST);
    const other = await ask(slots, [['other', 'shared']]);
    assert.equal(other.releases.length, 1);
    await end(other);
    await end(hog);
  });

  it('are left to others by accounts that want all', async () => {
    const slots = openFetchSlots();
    const hogs = await Promise.all(
      Array.from({ length: 4 }, (_, hog) => ask(slots, many(70, `hog${hog}`, `h${hog} #`))),
    );
    const other = await ask(slots, [['other', 'o']]);
    assert.equal(other.releases.length, 1);
    await end(other);
    for (const hog of hogs) await end(hog);
  });

  it('go first to the account that has the fewest', async () => {
    const slots = openFetchSlots();
    const all = await ask(slots, many(MAX_IMAGE_FETCHES, 'a#', 'h#'));
    const more = await ask(slots, [['a0', 'more']]);
    const other = await ask(slots, [['other', 'o']]);
    all.releases.pop()?.();
    await new Promise(setImmediate);
    assert.deepEqual([more.releases.length, other.releases.length], [0, 1]);
    await end(all);
    await end(more);
    await end(other);
  });

  it('are limited in total', async () => {
    const slots = openFetchSlots();
    const fetches = await ask(slots, many(50, 'a#', 'h#'));
    assert.equal(fetches.releases.length, MAX_IMAGE_FETCHES);
    await end(fetches);
    assert.equal(fetches.refused(), 0);
  });

  it('go to waiting callers in order, skipping callers at their limit', async () => {
    const slots = openFetchSlots();
    const hog = await ask(slots, many(MAX_IMAGE_FETCHES_OF_ACCOUNT + 1, 'hog', 'h#'));
    const others = await ask(slots, many(MAX_IMAGE_FETCHES, 'a#', 'o#'));
    const room = MAX_IMAGE_FETCHES - MAX_IMAGE_FETCHES_OF_ACCOUNT;
    assert.equal(others.releases.length, room);
    others.releases.pop()?.();
    await new Promise(setImmediate);
    assert.deepEqual([hog.releases.length, others.releases.length], [MAX_IMAGE_FETCHES_OF_ACCOUNT, room]);
    await end(hog);
    await end(others);
  });

  it("are waited for no longer than requested, by a limited number of an account's callers", async () => {
    const slots = openFetchSlots();
    const first = await ask(slots, many(MAX_IMAGE_FETCHES_OF_ACCOUNT, 'hog', 'h#'));
    const late = await ask(slots, many(MAX_IMAGES_WAITING_OF_ACCOUNT + 3, 'hog', 'h#'), 300);
    assert.equal(late.refused(), 3);
    await eventually(() => assert.equal(late.refused(), MAX_IMAGES_WAITING_OF_ACCOUNT + 3));
    await end(first);
  });

  it('are waited for by a limited number of callers in all', async () => {
    const slots = openFetchSlots();
    const all = many(MAX_IMAGE_FETCHES + MAX_IMAGES_WAITING + 1, 'a#', 'h#');
    const within = await ask(slots, all.slice(0, -1));
    assert.deepEqual([within.releases.length, within.refused()], [MAX_IMAGE_FETCHES, 0]);
    const beyond = await ask(slots, all.slice(-1));
    assert.equal(beyond.refused(), 1);
    await end(within);
  });
});
