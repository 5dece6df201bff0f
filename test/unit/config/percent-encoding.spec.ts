import assert from 'node:assert/strict';
import { loadConfig } from '../../../shared/config/config.js';
import { COMPLETE, problemsOf } from './problems.js';

describe('the configuration with a password that is not percent-encoded', () => {
  const hidden = 'hunter2';
  const cutShort = ['/', '?', '#', '@x/', '1/', '1?', '1#'].flatMap((end) => [
    `user:p${end}${hidden}@db.example`,
    `user:p@${hidden}${end}x@db.example`,
    `user:1${end}${hidden}@db.example`,
  ]);
  for (const address of cutShort) {
    it(`refuses ${address} of Postgres and of Redis, and does not quote it`, () => {
      const text = problemsOf({
        ...COMPLETE,
        DATABASE_URL: `postgres://${address}/app`,
        DATABASE_REPLICA_URL: `POSTGRESQL://${address}/app`,
        REDIS_URL: `redis://${address}`,
      });
      assert.match(text, /^ {2}DATABASE_URL is not a complete URL: .* percent-encoded \(.*%2F.*\)\.$/m);
      assert.match(text, /^ {2}DATABASE_REPLICA_URL is not a complete URL/m);
      assert.match(text, /^ {2}REDIS_URL (must be|has a user or a password)/m);
      assert.doesNotMatch(text, /hunter2/);
    });
  }

  it('refuses a host with a percent sign that encodes nothing', () => {
    const text = problemsOf({ ...COMPLETE, NODE_ENV: 'production', DATABASE_URL: 'postgres://u:p@a%zz/app' });
    assert.match(text, /DATABASE_URL is not a complete URL/);
  });

  it('accepts one that is encoded, and an @ in the options', () => {
    for (const url of [
      `postgres://u%40srv:${encodeURIComponent('p@/?#:%')}@db.example:5432/app?sslmode=require`,
      'postgres://u:p@ss@db.example/app',
      'postgres://db.example/app?user=me@server',
      'postgres:///app?host=/var/run/postgresql',
      'postgres://user@%2Fvar%2Frun/app',
    ])
      assert.equal(loadConfig({ ...COMPLETE, DATABASE_URL: url }, 'web').database.url, url);
  });
});
