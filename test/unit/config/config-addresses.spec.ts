import assert from 'node:assert/strict';
import express from 'express';
import { type Config, loadConfig } from '../../../shared/config/config.js';
import { problemsOf } from './problems.js';

const DATABASE_URL = 'postgres://db.example/app';
const read = (environment: Record<string, string>): Config =>
  loadConfig({ DATABASE_URL, ...environment }, 'cli');

function assertRefused(name: string, value: string): void {
  const problems = problemsOf({ DATABASE_URL, [name]: value }, 'cli');
  assert.match(problems, new RegExp(`^.*\\n {2}${name} [^\\n]+\\.$`));
  assert.doesNotMatch(problems, /hunter2/);
}

describe('TRUST_PROXY', () => {
  for (const value of [
    ...['10.0.0.1, 192.168.0.0/16', 'loopback,fd00::/8', '::1/128', '::ffff:10.0.0.1'],
    ...['::ffff:10.0.0.0/104', 'fe80::1%eth0', '0.0.0.0/1'],
  ])
    it(`may be ${value}, which Express takes`, () => {
      assert.equal(read({ TRUST_PROXY: value }).trustProxy, value);
      assert.doesNotThrow(() => express().set('trust proxy', value));
    });

  for (const value of [
    '1.2',
    '10.0/8',
    '10.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '::1/129',
    '::1.2.3.4',
    '1.1.1.1,',
  ])
    it(`may not be ${value}, at which Express would throw`, () => {
      assertRefused('TRUST_PROXY', value);
      assert.throws(() => express().set('trust proxy', value));
    });

  for (const value of ['1234', '010.0.0.1', '0x7f.0.0.1', '10.0.0.1/8/8', '10.0.0.0/', 'proxy.example'])
    it(`may not be ${value}, which is no address`, () => assertRefused('TRUST_PROXY', value));
});

describe('OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  it('may have a path, a user and a password', () => {
    const endpoint = 'https://user:hunter2@otel.example/otlp/';
    const { tracesUrl } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    assert.equal(tracesUrl, 'https://user:hunter2@otel.example/otlp/v1/traces');
  });

  for (const address of ['?key=hunter2', '#hunter2', 'otlp?'])
    it(`may not end with ${address}`, () =>
      assertRefused('OTEL_EXPORTER_OTLP_ENDPOINT', `https://otel.example/${address}`));
});

describe('a setting that is one URL', () => {
  for (const name of ['BASE_URL', 'FACILITATOR_URL', 'RPC_URL_SOLANA', 'OTEL_EXPORTER_OTLP_ENDPOINT']) {
    for (const value of [
      'https://one.example,https://two.example',
      'https://one.example;',
      'https://one.example"',
      'https://one.example/path # the first',
      'https://one.exa\nmple',
    ])
      it(`may not be ${JSON.stringify(value)}, as ${name}`, () => assertRefused(name, value));

    for (const value of ['http://[::1]:8080', 'https://käse.example', 'https://one_two.example./a,b;c'])
      it(`may be ${value}, as ${name}`, () => assert.doesNotThrow(() => read({ [name]: value })));
  }
});
