import assert from 'node:assert/strict';
import { ImagesBusy, readImageBody } from '../../../api/merchant-images/read-image-body.js';
import { MAX_IMAGE_BYTES } from '../../../shared/limits/bounds.js';
import { type Budget, openBudget } from '../../../shared/limits/budget.js';

const PLENTY = { total: 10 * MAX_IMAGE_BYTES, perHolder: [10 * MAX_IMAGE_BYTES] };

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

describe('the body of an image', () => {
  /** Bytes taken and not released: the peak, and at the end. */
  function watched(budget: Budget) {
    const seen = { held: 0, most: 0 };
    const take: Budget['take'] = (bytes, ...holders) => {
      const release = budget.take(bytes, ...holders);
      if (release === undefined) return undefined;
      seen.held += bytes;
      seen.most = Math.max(seen.most, seen.held);
      return () => {
        seen.held -= bytes;
        release();
      };
    };
    return { take, seen };
  }

  for (const length of [0, 1, 65_535, 65_536, 65_537, 300_000, MAX_IMAGE_BYTES]) {
    for (const announced of [undefined, length || undefined, 1, MAX_IMAGE_BYTES]) {
      it(`is read: ${length} bytes, of which ${announced ?? 'nothing'} was announced`, async () => {
        const bytes = Buffer.alloc(length, 'abc');
        const budget = watched(openBudget(PLENTY));
        const read = await readImageBody(inPieces(bytes, 60_001), announced, budget, 'a');
        assert.ok(read);
        assert.ok(read.equals(bytes));
        assert.equal(read.buffer.byteLength - read.length < 8192, true, 'no more is kept than it holds');
        assert.equal(budget.seen.held, 0);
        assert.ok(budget.seen.most <= 2 * MAX_IMAGE_BYTES);
      });
    }
  }

  it('is refused when it is too long, announced or not', async () => {
    const bytes = Buffer.alloc(MAX_IMAGE_BYTES + 1);
    for (const announced of [undefined, 10, MAX_IMAGE_BYTES + 1]) {
      const budget = watched(openBudget(PLENTY));
      assert.equal(await readImageBody(inPieces(bytes, 60_000), announced, budget, 'a'), undefined);
      assert.equal(budget.seen.held, 0);
    }
  });

  it('is not read when the budget is used up, which is not the fault of the image', async () => {
    const budget = watched(openBudget({ total: 200_000, perHolder: [200_000] }));
    const body = inPieces(Buffer.alloc(300_000), 1000);
    await assert.rejects(readImageBody(body, undefined, budget, 'a'), ImagesBusy);
    assert.equal(budget.seen.held, 0);
    await assert.rejects(readImageBody(inPieces(Buffer.alloc(1), 1), 300_000, budget, 'a'), ImagesBusy);
  });

  it('takes its own size from the budget, not the size of its chunks', async () => {
    const pieces = 20_000;
    const read = await readImageBody(
      inPieces(Buffer.alloc(pieces, 1), 1),
      undefined,
      openBudget(PLENTY),
      'a',
    );
    assert.equal(read?.length, pieces);
  });
});
