import assert from 'node:assert/strict';
import { loadConfig } from '../../../shared/config/config.js';
import { postgresConnection, whyUnusable } from '../../../shared/db/connection.js';

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

describe('the sentence about a database that cannot be used', () => {
  const cases: [message: string, code: string, advice: RegExp][] = [
    ['self-signed certificate', 'DEPTH_ZERO_SELF_SIGNED_CERT', /DATABASE_TLS_VERIFY=false/],
    ['unable to verify the first certificate', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', /sslrootcert=/],
    ['Hostname does not match', 'ERR_TLS_CERT_ALTNAME_INVALID', /DATABASE_TLS_VERIFY=false/],
    ['no pg_hba.conf entry for host "::1", no encryption', '28000', /sslmode=require/],
    ['The server does not support SSL connections', '', /Remove sslmode/],
  ];
  for (const [message, code, advice] of cases) {
    it(`says what to change about TLS: ${message}`, () => {
      const sentence = whyUnusable(Object.assign(new Error(message), { code }));
      assert.match(sentence, /^The database of DATABASE_URL cannot be used: /);
      assert.match(sentence, advice);
    });
  }

  it('gives no advice about TLS where the error is about something else', () => {
    const wrong = Object.assign(new Error('password authentication failed for user "pw"'), { code: '28P01' });
    assert.equal(
      whyUnusable(wrong),
      'The database of DATABASE_URL cannot be used: password authentication failed for user "pw"',
    );
  });
});
