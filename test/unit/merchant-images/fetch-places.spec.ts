import assert from 'node:assert/strict';
import { FetchPlaces } from '../../../api/merchant-images/fetch-places.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  MAX_IMAGE_FETCHES,
  MAX_IMAGE_FETCHES_OF_ACCOUNT,
  MAX_IMAGE_FETCHES_OF_HOST,
  MAX_IMAGES_WAITING_OF_ACCOUNT,
} from '../../../shared/limits/bounds.js';

const LONG_MS = 60_000;

describe('places to fetch images from', () => {
  /** So many as there are places for, and how the others' waiting ended, when it has. */
  async function ask(places: FetchPlaces, all: [accountId: string, host: string][], waitMs = LONG_MS) {
    const releases: (() => void)[] = [];
    let refused = 0;
    for (const [accountId, host] of all) {
      void places.take({ accountId, host }, waitMs).then((release) => {
        if (release === undefined) refused += 1;
        else releases.push(release);
      });
    }
    await new Promise(setImmediate);
    return { releases, refused: () => refused };
  }

  const many = (count: number, accountId: (n: number) => string, host: (n: number) => string) =>
    Array.from({ length: count }, (_, n): [string, string] => [accountId(n), host(n)]);

  async function end({ releases }: { releases: (() => void)[] }): Promise<void> {
    while (releases.length > 0) {
      releases.pop()?.();
      await new Promise(setImmediate);
    }
  }

  it('are few for an account, however many hosts it names', async () => {
    const places = new FetchPlaces();
    const hog = await ask(
      places,
      many(
        70,
        () => 'hog',
        (n) => `h${n}`,
      ),
    );
    assert.equal(hog.releases.length, MAX_IMAGE_FETCHES_OF_ACCOUNT);
    const other = await ask(places, [['other', 'o']]);
    assert.equal(other.releases.length, 1);
    await end(other);
    await end(hog);
  });

  it('are few for a host, however many accounts name it', async () => {
    const places = new FetchPlaces();
    const asked = await ask(
      places,
      many(
        50,
        (n) => `a${n}`,
        () => 'victim',
      ),
    );
    assert.equal(asked.releases.length, MAX_IMAGE_FETCHES_OF_HOST);
    await end(asked);
  });

  it('are so many in all', async () => {
    const places = new FetchPlaces();
    const asked = await ask(
      places,
      many(
        50,
        (n) => `a${n}`,
        (n) => `h${n}`,
      ),
    );
    assert.equal(asked.releases.length, MAX_IMAGE_FETCHES);
    await end(asked);
    assert.equal(asked.refused(), 0);
  });

  it('are given on to those who wait, in their order, past those that may not have it', async () => {
    const places = new FetchPlaces();
    const hog = await ask(
      places,
      many(
        MAX_IMAGE_FETCHES_OF_ACCOUNT + 1,
        () => 'hog',
        (n) => `h${n}`,
      ),
    );
    const others = await ask(
      places,
      many(
        MAX_IMAGE_FETCHES,
        (n) => `a${n}`,
        (n) => `o${n}`,
      ),
    );
    const room = MAX_IMAGE_FETCHES - MAX_IMAGE_FETCHES_OF_ACCOUNT;
    assert.equal(others.releases.length, room);
    others.releases.pop()?.();
    await new Promise(setImmediate);
    assert.deepEqual([hog.releases.length, others.releases.length], [MAX_IMAGE_FETCHES_OF_ACCOUNT, room]);
    await end(hog);
    await end(others);
  });

  it('are waited for no longer than told, by no more than so many of an account', async () => {
    const places = new FetchPlaces();
    const first = await ask(
      places,
      many(
        MAX_IMAGE_FETCHES_OF_ACCOUNT,
        () => 'hog',
        (n) => `h${n}`,
      ),
    );
    const late = await ask(
      places,
      many(
        MAX_IMAGES_WAITING_OF_ACCOUNT + 3,
        () => 'hog',
        (n) => `h${n}`,
      ),
      300,
    );
    assert.equal(late.refused(), 3);
    await eventually(() => assert.equal(late.refused(), MAX_IMAGES_WAITING_OF_ACCOUNT + 3));
    await end(first);
  });
});
