import assert from 'node:assert/strict';
import { loadConfig } from '../../../shared/config/config.js';
import { findRiskySettings, warnAboutRiskySettings } from '../../../shared/startup/risky-settings.js';
import { loggerWithLines } from '../../support/log-lines.js';

const SAFE = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://user:pass-word@db.example/app?sslmode=require',
  FACILITATOR_URL: 'https://facilitator.example',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  BASE_URL: 'https://pay.example',
  TRUST_PROXY: '1',
};

function warningsOf(environment: Record<string, string>): string[] {
  const dangers = findRiskySettings(loadConfig({ ...SAFE, ...environment }, 'web'));
  for (const { hint } of dangers) assert.doesNotMatch(hint, /pass-word|\n/);
  return dangers.map(({ event }) => event.replace('config.', ''));
}

describe('the warnings about risky settings', () => {
  it('are empty for safe settings', () => {
    assert.deepEqual(warningsOf({}), []);
    assert.deepEqual(warningsOf({ TRUST_PROXY: '1', WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'false' }), []);
  });

  it('name TRUST_PROXY=true and private webhooks', () => {
    assert.deepEqual(warningsOf({ TRUST_PROXY: 'true' }), ['trusts_every_proxy']);
    assert.deepEqual(warningsOf({ WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true' }), ['private_webhooks']);
  });

  it('name a TRUST_PROXY that says nothing behind https', () => {
    assert.deepEqual(warningsOf({ TRUST_PROXY: '' }), ['no_trust_proxy']);
    assert.deepEqual(warningsOf({ TRUST_PROXY: 'false' }), []);
    assert.deepEqual(warningsOf({ TRUST_PROXY: '', BASE_URL: 'http://pay.example' }), ['plain_base_url']);
  });

  it('name a key of zeros, also among others', () => {
    const zeros = Buffer.alloc(32).toString('base64');
    assert.deepEqual(warningsOf({ ENCRYPTION_KEY: zeros }), ['zero_key']);
    assert.deepEqual(warningsOf({ ENCRYPTION_KEY: `${SAFE.ENCRYPTION_KEY},${zeros}` }), ['zero_key']);
  });

  it('name a network that is not offered, once', () => {
    const typed = { CONFIRMATIONS_EIP155_845: '1', RPC_URL_EIP155_845: 'https://rpc.example' };
    assert.deepEqual(warningsOf({ ...typed, CONFIRMATIONS_EIP155_8453: '1' }), ['unknown_network']);
  });

  it('name a NODE_ENV that is neither production nor development nor test', () => {
    const named = ['prod', 'staging'];
    for (const environment of [...named, 'development', 'test', '']) {
      const { logger, lines } = loggerWithLines<{ event: string }>();
      warnAboutRiskySettings(loadConfig({ ...SAFE, NODE_ENV: environment }, 'web'), logger);
      assert.deepEqual(
        lines.map(({ event }) => event),
        named.includes(environment) ? ['config.unknown_environment'] : [],
        environment,
      );
    }
  });

  const addresses: Record<string, string[]> = {
    '': ['local_base_url'],
    'https://localhost': ['local_base_url'],
    'http://127.0.0.1:3000': ['local_base_url'],
    'http://[::1]:3000': ['local_base_url'],
    'http://pay.localhost': ['local_base_url'],
    'http://pay.example': ['plain_base_url'],
    'http://10.0.0.7:3000': ['plain_base_url'],
    'https://localhost.example': [],
    'https://pay.example/': [],
    'https://pay.example/shop': ['base_url_with_path'],
  };
  for (const [address, dangers] of Object.entries(addresses)) {
    it(`are, for BASE_URL=${address}, ${dangers.join() || 'nothing'}`, () => {
      assert.deepEqual(warningsOf({ BASE_URL: address }), dangers);
    });
  }

  const databases: Record<string, boolean> = {
    'postgres://db.example/app': true,
    'postgres://db.example/app?sslmode=disable': true,
    'postgres://db.example/app?ssl=false': true,
    'postgres://db.example/app?ssl=0': true,
    'postgres://db.example/app?sslmode=disable&ssl=true': true,
    'postgres://10.0.0.7/app': true,
    'postgres://user@localhost/app?host=db.example': true,
    'postgres://db.example/app?sslmode=no-verify': false,
    'postgres://db.example/app?ssl=true': false,
    'postgres://db.example/app?ssl=1': false,
    'postgres://db.example/app?ssl=require': false,
    'postgres://localhost:5432/app': false,
    'postgres://127.0.0.1/app': false,
    'postgres://[::1]:5432/app': false,
    'postgres:///app?host=/var/run/postgresql': false,
    'postgres://user@%2Fvar%2Frun%2Fpostgresql/app': false,
  };
  for (const [url, isPlain] of Object.entries(databases)) {
    it(`${isPlain ? 'is' : 'is not'} ${url}`, () => {
      assert.deepEqual(warningsOf({ DATABASE_URL: url }), isPlain ? ['plain_postgres'] : []);
    });
  }

  it('do not name Postgres with an unverified certificate', () => {
    const DATABASE_URL = 'postgres://db.example/app';
    assert.deepEqual(warningsOf({ DATABASE_URL, DATABASE_TLS_VERIFY: 'false' }), []);
  });

  it('name each risk separately', () => {
    const all = {
      BASE_URL: 'http://pay.example',
      TRUST_PROXY: 'true',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
      DATABASE_URL: 'postgres://db.example/app',
    };
    assert.equal(warningsOf(all).length, 4);
  });
});
