import assert from 'node:assert/strict';
import { loadConfig } from '../../../shared/config/config.js';
import { postgresConnection } from '../../../shared/db/connection.js';

const TRUSTING = { rejectUnauthorized: false };

describe('the TLS of the connections to Postgres', () => {
  const cases: Record<string, unknown> = {
    '': false,
    '?sslmode=disable': false,
    '?sslmode=require': true,
    '?sslmode=verify-full': true,
    '?sslmode=no-verify': TRUSTING,
    '?ssl=true': true,
    '?ssl=1': true,
    '?ssl=require': true,
    '?ssl=no-verify': TRUSTING,
    '?ssl=false': false,
    '?ssl=0': false,
    '?ssl=true&sslmode=disable': false,
  };
  for (const [query, ssl] of Object.entries(cases)) {
    it(`is ${JSON.stringify(ssl)} for a URL with ${query || 'neither sslmode nor ssl'}`, () => {
      const connection = postgresConnection(databaseOf(query));
      assert.deepEqual(connection.ssl, ssl);
      // node-postgres would let them override the `ssl` beside the URL.
      assert.doesNotMatch(connection.connectionString, /ssl/);
    });
  }

  it('accepts any certificate with DATABASE_TLS_VERIFY=false, whatever the URL asks for', () => {
    const { ssl } = postgresConnection(databaseOf('', { DATABASE_TLS_VERIFY: 'false' }));
    assert.deepEqual(ssl, TRUSTING);
  });

  function databaseOf(query: string, more: Record<string, string> = {}) {
    const settings = { DATABASE_URL: `postgres://user@db.example/app${query}`, ...more };
    return loadConfig(settings, 'migrate').database;
  }
});
