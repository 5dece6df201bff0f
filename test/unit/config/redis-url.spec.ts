import assert from 'node:assert/strict';
import { parseRedisUrl } from '../../../shared/config/redis-url.js';

const A_AND_B = [
  { host: 'a.example', port: 7000 },
  { host: 'b.example', port: 7001 },
];

describe('REDIS_URL', () => {
  for (const url of [
    'redis://localhost:6379',
    'redis://localhost/',
    'rediss://user:secret@h.example:6380/2',
    'redis://:p%40%25@[::1]:6379?db=3&family=6',
  ]) {
    it(`names one Redis: ${url}`, () => {
      assert.deepEqual(parseRedisUrl(url), { kind: 'one', tls: url.startsWith('rediss'), url });
    });
  }

  it('names the nodes of a cluster', () => {
    assert.deepEqual(parseRedisUrl('redis+cluster://a.example:7000,b.example:7001'), {
      kind: 'cluster',
      tls: false,
      nodes: A_AND_B,
      credentials: {},
    });
    assert.deepEqual(parseRedisUrl('rediss+cluster://u:p%40%2C@[::1],10.0.0.1:1/0'), {
      kind: 'cluster',
      tls: true,
      nodes: [
        { host: '::1', port: 6379 },
        { host: '10.0.0.1', port: 1 },
      ],
      credentials: { username: 'u', password: 'p@,' },
    });
  });

  it("names Sentinels and their master's name", () => {
    assert.deepEqual(parseRedisUrl('redis+sentinel://a.example:7000,b.example:7001/main'), {
      kind: 'sentinel',
      tls: false,
      nodes: A_AND_B,
      credentials: {},
      name: 'main',
      db: 0,
      sentinels: {},
    });
    const full =
      'rediss+sentinel://:secret@s.example/my-master/3?sentinel_username=watch&sentinel_password=a%2Bb';
    assert.deepEqual(parseRedisUrl(full), {
      kind: 'sentinel',
      tls: true,
      nodes: [{ host: 's.example', port: 26379 }],
      credentials: { password: 'secret' },
      name: 'my-master',
      db: 3,
      sentinels: { username: 'watch', password: 'a+b' },
    });
  });

  for (const [url, words] of [
    ['redis:a.example', /must be redis:\/\//],
    ['redis://a.example:66000', /must be redis:\/\//],
    ['a.example:6379', /must be redis:\/\//],
    ['redis://u:secret%zz@a.example', /percent-encoded/],
    ['redis://%E0%A4@a.example', /percent-encoded/],
    ['redis://a.example/abc', /the number of a database/],
    ['redis://a.example/1/2', /the number of a database/],
    ['redis://a.example?db=abc', /the number of a database/],
    ['redis://a:1,b:2', /redis\+cluster:\/\//],
    ['redis+cluster://', /must be redis:\/\//],
    ['redis+cluster://a:1,,b:2', /must be redis:\/\//],
    ['redis+cluster://a:0', /must be redis:\/\//],
    ['redis+cluster://a:66000', /must be redis:\/\//],
    ['redis+cluster://a b', /must be redis:\/\//],
    ['redis+cluster://u:%E0%A4@a:1', /must be redis:\/\//],
    ['redis+clusters://a:1', /must be redis:\/\//],
    ['redis+cluster://a:1/3', /a Redis cluster does not support/],
    ['redis+cluster://a:1?family=6', /a Redis cluster does not support/],
    ['redis+sentinel://a:1', /name of the master in the Sentinel configuration/],
    ['redis+sentinel://a:1/main/x', /name of the master in the Sentinel configuration/],
    ['redis+sentinel://a:1/main?password=secret', /sentinel_username and sentinel_password/],
  ] as const) {
    it(`is refused with a message that holds no secret: ${url}`, () => {
      const problem = parseRedisUrl(url);
      assert.equal(typeof problem, 'string');
      assert.match(String(problem), words);
      assert.doesNotMatch(String(problem), /secret|:1\b/);
    });
  }
});
