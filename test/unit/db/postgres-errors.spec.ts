import assert from 'node:assert/strict';
import { connect, type LookupFunction } from 'node:net';
import { isDatabaseUnavailable, messageOf } from '../../../shared/db/postgres-errors.js';

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

  it('at any address of its host leaves Postgres unavailable, and names each', async () => {
    // Systems make no TCP connection to addresses of multicast.
    const groups = ['224.0.0.1', '224.0.0.2'].map((address) => ({ address, family: 4 }));
    const lookup: LookupFunction = (_host, _options, found) => found(null, groups);
    const error = await new Promise((resolve) =>
      connect({ host: 'db.example', port: 5432, lookup }).once('error', resolve),
    );
    assert.ok(error instanceof AggregateError);
    assert.match(messageOf(error), /^connect E[A-Z]+ 224\.0\.0\.1:5432.*, connect E[A-Z]+ 224\.0\.0\.2:5432/);
    assert.ok(isDatabaseUnavailable(error));
    const ports = error.errors.map((one) => Object.assign(one, { code: 'EADDRNOTAVAIL' }));
    assert.ok(isDatabaseUnavailable(Object.assign(new AggregateError(ports), { code: 'EADDRNOTAVAIL' })));
  });

  for (const [syscall, code] of [
    ['getaddrinfo', 'EAI_FAIL'],
    ['getaddrinfo', 'EMFILE'],
    ['read', 'EHOSTUNREACH'],
    ['read', 'ENETUNREACH'],
  ] as const)
    it(`or that broke, by ${code} of ${syscall}, leaves Postgres unavailable`, () => {
      assert.ok(isDatabaseUnavailable(Object.assign(new Error(`${syscall} ${code}`), { code, syscall })));
    });

  it('is told from a file that may not be opened', () => {
    const error = Object.assign(new Error("EMFILE: too many open files, open 'x'"), {
      code: 'EMFILE',
      syscall: 'open',
    });
    assert.ok(!isDatabaseUnavailable(error));
  });
});
