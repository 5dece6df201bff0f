import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { loadConfig, usesDevelopmentKey } from '../../../shared/config/config.js';
import { COMPLETE, problemsOf } from './problems.js';

describe('the configuration', () => {
  it('has the documented defaults', () => {
    const config = loadConfig(COMPLETE, 'web');
    const [facilitator] = config.facilitators;
    assert.deepEqual([facilitator?.url, facilitator?.timeoutMs], ['https://facilitator.example', 8000]);
    assert.equal(config.database.poolSize, 10);
    const defaults = {
      port: 3000,
      host: undefined,
      baseUrl: 'http://localhost:3000',
      redis: undefined,
      settleTimeoutMs: 30_000,
      settleWaitMs: 15_000,
      apiRequestsPerSecond: 100,
      linkRequestsPerMinute: 600,
      trustProxy: false,
      allowPrivateWebhooks: false,
      logLevel: 'info',
    };
    assert.deepEqual({ ...config, ...defaults }, config);
    assert.ok(Object.isFrozen(config));
  });

  it('gives the replica the settings of the database, except the address', () => {
    const url = 'postgres://user:pass@standby.example/app';
    const settings = { DATABASE_REPLICA_URL: url, DATABASE_POOL_SIZE: '7', DATABASE_TLS_VERIFY: 'false' };
    const { database, replica } = loadConfig({ ...COMPLETE, ...settings }, 'web');
    assert.deepEqual(replica, { ...database, url });
    assert.equal(loadConfig(COMPLETE, 'web').replica, undefined);
  });

  it('takes no BASE_URL to which a path cannot be added, and does not quote it', () => {
    for (const part of [
      'pay.example/?shop=1',
      'pay.example/#top',
      'pay.example?',
      'u:pass-word@pay.example',
    ]) {
      const text = problemsOf({ ...COMPLETE, BASE_URL: `https://${part}` });
      assert.match(text, /BASE_URL must be scheme, host and port/);
      assert.doesNotMatch(text, /pass-word/);
    }
  });

  it('reports every problem at once, by the name of its variable', () => {
    const wrong = { PORT: 'http', TRUST_PROXY: 'maybe', LOG_LEVEL: 'loud' };
    const text = problemsOf({ NODE_ENV: 'production', ...wrong });
    for (const name of ['DATABASE_URL', 'FACILITATOR_URL', 'ENCRYPTION_KEY', ...Object.keys(wrong)])
      assert.match(text, new RegExp(`^ {2}${name}`, 'm'));
  });

  it('requires of each process only the variables that it needs', () => {
    const { DATABASE_URL } = COMPLETE;
    for (const role of ['migrate', 'cli'] as const)
      assert.equal(problemsOf({ DATABASE_URL, NODE_ENV: 'production' }, role), '');
    assert.match(problemsOf({ DATABASE_URL }, 'worker'), /FACILITATOR_URL is missing/);
  });

  const malformed: Record<string, string> = {
    RETENTION_PERSONAL_DAYS: '0',
    DATABASE_DISK_BYTES: '100GB',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
    PORT: '70000',
    HOST: 'pay.example',
    BASE_URL: 'pay.example',
    DATABASE_URL: 'mysql://x',
    DATABASE_POOL_SIZE: '0',
    DATABASE_REPLICA_URL: 'replica:5432',
    REDIS_URL: 'localhost:6379',
    REDIS_TLS_VERIFY: 'no',
    DATABASE_TLS_VERIFY: '0',
    DATABASE_PREPARED_STATEMENTS: 'off',
    FACILITATOR_URL: 'ftp://x',
    FACILITATOR_TIMEOUT_MS: '8s',
    FACILITATOR_MAX_PER_SECOND: '0',
    FACILITATOR_MAX_CONNECTIONS: 'many',
    CHECK_TOKEN_ACCOUNTS: 'maybe',
    ENCRYPTION_KEY: 'dG9vIHNob3J0',
    RECEIPT_SIGNING_KEYS: 'hunter2',
    SETTLE_WAIT_MS: '-1',
    CONFIRMATIONS_EIP155_8453: 'two',
    CONFIRMATIONS_BASE: '1',
    CONFIRMATIONS_SOLANA: '3',
    CONFIRMATIONS_SOLANA_DEVNET: '32',
    DATABASE_QUERY_TIMEOUT_MS: '10',
    RPC_URL_SOLANA: 'x',
    RPC_URL_EIP155_: 'https://rpc.example',
    EXPLORER_URL_SOLANA: 'https://explorer.example/tx/',
    EXPLORER_URL_EIP155_8453: 'javascript:{tx}',
    RATE_LIMIT_API_PER_SECOND: '0',
    RATE_LIMIT_LINK_PER_MINUTE: '1.5',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'yes',
    WORKER_QUEUES: 'settle',
    WORKER_CONCURRENCY: 'many',
    WORKER_METRICS_PORT: '0',
  };
  for (const [name, value] of Object.entries(malformed)) {
    it(`names ${name} when it is "${value}"`, () => {
      assert.match(problemsOf({ ...COMPLETE, [name]: value }), new RegExp(`^ {2}${name} `, 'm'));
    });
  }

  it('listens on the address that HOST names', () => {
    for (const HOST of ['127.0.0.1', '::', '::1', 'localhost'])
      assert.equal(loadConfig({ ...COMPLETE, HOST }, 'web').host, HOST);
  });

  it('accepts Sentinels for Redis, and names REDIS_URL when it is malformed', () => {
    const url = 'redis+sentinel://:secret@a.example,b.example/main';
    assert.equal(loadConfig({ ...COMPLETE, REDIS_URL: url }, 'web').redis?.url, url);
    const malformed = 'redis+cluster://u:secret@a:1,,b:2';
    assert.match(problemsOf({ ...COMPLETE, REDIS_URL: malformed }), /^ {2}REDIS_URL must(?!.*secret)/m);
  });

  it('never repeats a password in its messages', () => {
    assert.ok(!problemsOf({ ...COMPLETE, REDIS_URL: 'http://user:hunter2@host' }).includes('hunter2'));
  });

  it('reads how a facilitator knows its callers', () => {
    const authOf = (variables: Record<string, string>): object | undefined =>
      loadConfig({ ...COMPLETE, ...variables }, 'web').facilitators[0]?.auth;
    const { privateKey } = generateKeyPairSync('ed25519');
    const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const key = { FACILITATOR_KEY_ID: 'k', FACILITATOR_SECRET: secret };
    assert.deepEqual(authOf({}), { kind: 'none' });
    assert.deepEqual(authOf(key), { kind: 'svc', id: 'k', secret });
    assert.deepEqual(authOf({ ...key, FACILITATOR_AUTH: 'payai' }), { kind: 'payai', id: 'k', secret });
    assert.deepEqual(authOf({ ...key, FACILITATOR_AUTH: 'none' }), { kind: 'none' });
    assert.deepEqual(authOf({ ...key, FACILITATOR_AUTH: 'bearer' }), { kind: 'bearer', secret });
    for (const kind of ['svc', 'payai', 'cdp', 'bearer'])
      assert.match(
        problemsOf({ ...COMPLETE, FACILITATOR_AUTH: kind }),
        new RegExp(`FACILITATOR_AUTH is ${kind}: set FAC`),
      );
    // A line for the unknown word is the only one.
    const unknown = 'FACILITATOR_AUTH must be one of svc, payai, cdp, bearer, none; it is "foo".';
    for (const more of [{}, key, { FACILITATOR_SECRET: secret }]) {
      const [, ...lines] = problemsOf({ ...COMPLETE, ...more, FACILITATOR_AUTH: 'foo' })
        .trimEnd()
        .split('\n');
      assert.deepEqual(lines, [`  ${unknown}`]);
    }
    const split = { FACILITATOR_AUTH: 'bearer', FACILITATOR_SECRET: 'two words' };
    assert.match(problemsOf({ ...COMPLETE, ...split }), /without blanks or line ends/);
  });

  it('requires a facilitator secret that is a key', () => {
    const text = problemsOf({ ...COMPLETE, FACILITATOR_KEY_ID: 'k', FACILITATOR_SECRET: 'svc_sk_hunter2' });
    assert.match(text, /FACILITATOR_SECRET must be svc_sk_/);
    assert.ok(!text.includes('hunter2'));
  });

  describe('for the keys that sign receipts', () => {
    const der = (key: KeyObject): string => key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
    const [first, second] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
    const refusalOf = (text: string): string => problemsOf({ ...COMPLETE, RECEIPT_SIGNING_KEYS: text });

    it('accepts none, one or several, in their order, with spaces around them', () => {
      const read = (text: string): string[] =>
        loadConfig({ ...COMPLETE, RECEIPT_SIGNING_KEYS: text }, 'web').receiptSigningKeys.map(der);
      const [a, b] = [der(first.privateKey), der(second.privateKey)];
      assert.deepEqual(read(''), []);
      assert.deepEqual(read(a), [a]);
      assert.deepEqual(read(` ${b} , ${a}\n`), [b, a]);
    });

    it("accepts openssl's output", () => {
      const printed = 'MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g';
      assert.equal(refusalOf(printed), '');
    });

    it('refuses anything else without quoting it', () => {
      const a = der(first.privateKey);
      const wrong = {
        'half a key': a.slice(0, 40),
        'a public key': first.publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
        'a key of another kind': der(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
        'a PEM': first.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
        'a trailing comma': `${a},`,
        'one invalid key among valid ones': `${a},hunter2`,
      };
      for (const [title, text] of Object.entries(wrong)) {
        const message = refusalOf(text);
        assert.match(message, /^ {2}RECEIPT_SIGNING_KEYS must be .*openssl genpkey/m, title);
        assert.ok(!message.includes(text.slice(0, 20)), title);
      }
      assert.match(refusalOf(`${a},${a}`), /RECEIPT_SIGNING_KEYS holds the same key twice/);
    });
  });

  it('treats an empty variable as not set', () => {
    assert.equal(loadConfig({ ...COMPLETE, REDIS_URL: '', PORT: ' ' }, 'web').port, 3000);
  });

  it('reads per-network settings by their names', () => {
    const settings = { CONFIRMATIONS_EIP155_8453: '3', RPC_URL_SOLANA_DEVNET: 'http://127.0.0.1:8899' };
    const config = loadConfig({ ...COMPLETE, ...settings }, 'worker');
    assert.equal(config.confirmations.get('EIP155_8453'), 3);
    assert.equal(config.rpcUrls.get('SOLANA_DEVNET'), 'http://127.0.0.1:8899');
  });

  it("reads Express's trust proxy values that are no addresses", () => {
    for (const value of [1, true, false])
      assert.equal(loadConfig({ ...COMPLETE, TRUST_PROXY: `${value}` }, 'web').trustProxy, value);
  });

  it('refuses scripts of other hosts on the page in production', () => {
    const script = { PAGE_SCRIPT_URL: 'http://127.0.0.1:4022/sandbox/wallets.js' };
    assert.equal(loadConfig({ ...COMPLETE, ...script }, 'web').pageScriptUrl, script.PAGE_SCRIPT_URL);
    const inProduction = problemsOf({ ...COMPLETE, ...script, NODE_ENV: 'production' });
    assert.match(inProduction, /PAGE_SCRIPT_URL is for development/);
    assert.match(problemsOf({ ...COMPLETE, PAGE_SCRIPT_URL: 'wallets.js' }), /PAGE_SCRIPT_URL must be a URL/);
  });

  for (const name of ['ADMIN_PASSWORD', 'METRICS_TOKEN']) {
    it(`refuses a ${name} under 16 characters in production`, () => {
      const production = { ...COMPLETE, NODE_ENV: 'production' };
      for (const short of ['x', 'fifteen letters', 'ééééééééééééééé']) {
        for (const role of ['web', 'worker'] as const) {
          const message = problemsOf({ ...production, [name]: short }, role);
          assert.match(message, new RegExp(`^ {2}${name} must have at least 16 characters`, 'm'));
          assert.ok(!message.includes(short) || short === 'x');
        }
        assert.equal(problemsOf({ ...COMPLETE, [name]: short }), '', 'elsewhere it may be short');
      }
      assert.equal(problemsOf({ ...production, [name]: 'sixteen letters.' }), '');
      assert.equal(problemsOf({ ...production, [name]: '' }), '', 'there are no such pages then');
    });
  }

  it('uses the built-in key outside production only, and reports it', () => {
    const { ENCRYPTION_KEY: _, ...withoutKey } = COMPLETE;
    assert.ok(usesDevelopmentKey(loadConfig(withoutKey, 'web')));
    assert.ok(!usesDevelopmentKey(loadConfig(COMPLETE, 'web')));
    const two = { ...COMPLETE, ENCRYPTION_KEY: `${COMPLETE.ENCRYPTION_KEY},${COMPLETE.ENCRYPTION_KEY}` };
    assert.equal(loadConfig(two, 'web').encryptionKeys.length, 2);
  });
});
