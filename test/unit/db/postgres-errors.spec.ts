import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { isDatabaseUnavailable } from '../../../shared/db/postgres-errors.js';

describe('a connection to Postgres that cannot be made', () => {
  for (const code of [
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EHOSTDOWN',
    'EADDRNOTAVAIL',
    'EMFILE',
    'ENFILE',
    'EACCES',
  ])
    it(`because of ${code} leaves Postgres unavailable, so that its statement may be sent again`, () => {
      const error = Object.assign(new Error(`connect ${code} 192.0.2.1:5432`), { code, syscall: 'connect' });
      assert.ok(isDatabaseUnavailable(error));
    });

  it('has an error of this form', async () => {
    const error = await new Promise((resolve) => connect('/nowhere/.s.PGSQL.5432').once('error', resolve));
    assert.equal(Object(error).syscall, 'connect');
  });

  it('is told from a file that may not be opened', () => {
    const error = Object.assign(new Error("EMFILE: too many open files, open 'x'"), {
      code: 'EMFILE',
      syscall: 'open',
    });
    assert.ok(!isDatabaseUnavailable(error));
  });
});
