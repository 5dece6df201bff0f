import assert from 'node:assert/strict';
import { batchReads } from '../../../shared/db/batch-reads.js';
import type { Knex } from '../../../shared/db/knex.js';

describe('reads whose statements are stuck on dead connections', () => {
  it('give their places to others', async () => {
    const places = 3;
    let sent = 0;
    const read = batchReads<string, string>(
      async (_db, keys) => {
        sent += 1;
        if (sent <= places) await new Promise(() => undefined);
        return [...keys];
      },
      { maxStatements: places },
    );
    const db = {} as Knex;
    for (let dead = 0; dead < places; dead += 1) {
      void read(db, `dead ${dead}`);
      await new Promise(setImmediate);
    }
    assert.equal(await read(db, 'a link'), 'a link');
    assert.equal(sent, places + 1);
  });
});
