import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { EVM_WALLET, SOLANA_WALLET } from '../../lab/world/shop/factories.js';
import { openTestApp } from '../support/app.js';
import { assertRefused, runCommand, runJson } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { forAllTests } from '../support/hooks.js';
import { testServices } from '../support/suite.js';

const USDC_ON_BASE = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';

describe('the merchants command', () => {
  useCliDatabase();
  const app = forAllTests(openTestApp);

  async function statusWith(key: string): Promise<number> {
    const url = `http://127.0.0.1:${app.port}/v1/checkout/sessions`;
    return (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).status;
  }

  it('creates an account with a working key for each mode', async () => {
    const { account, keys } = await runJson('create', '--name', 'Shop', '--evm', EVM_WALLET.toLowerCase());
    assert.match(account.id, /^acct_/);
    assert.deepEqual(account.payout_wallets, { evm: EVM_WALLET, solana: null });
    assert.match(keys.live, /^svc_ck_live_/);
    assert.match(keys.test, /^svc_ck_test_/);
    assert.equal(await statusWith(keys.live), 200);
    assert.equal(await statusWith(keys.test), 200);
  });

  it('creates a key that only reads', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    const key = await runJson('create-key', account.id, '--mode', 'test', '--read-only');
    assert.deepEqual([key.access, key.livemode], ['read', false]);
    assert.equal(await statusWith(key.secret), 200);
    const url = `http://127.0.0.1:${app.port}/v1/webhook_endpoints`;
    const headers = { authorization: `Bearer ${key.secret}` };
    assert.equal((await fetch(url, { method: 'POST', headers })).status, 403);
    const { access } = await runJson('create-key', account.id, '--mode', 'test');
    assert.equal(access, 'full');
    const { keys } = await runJson('show', account.id);
    assert.deepEqual(
      keys.map((one) => one.access),
      ['full', 'full', 'read', 'full'],
    );
    assert.equal((await runJson('revoke-key', key.id)).access, 'read');
    assert.equal(await statusWith(key.secret), 401);
  });

  it('updates, shows and lists accounts without their secrets', async () => {
    const { account } = await runJson('create', '--name', 'Shop', '--solana', SOLANA_WALLET);
    const updated = await runJson(
      'update',
      account.id,
      '--brand-color',
      '#AABBCC',
      '--logo-url',
      'https://a.example/l.png',
      '--solana',
      '',
      '--support-email',
      'help@a.example',
    );
    assert.equal(updated.brand_color, '#aabbcc');
    assert.equal(updated.payout_wallets.solana, null);
    const shown = await runJson('show', account.id);
    assert.equal(shown.logo_url, 'https://a.example/l.png');
    assert.equal(shown.keys.length, 2);
    assert.ok(!JSON.stringify(shown).includes('svc_ck_'));
    const { accounts } = await runJson('list');
    assert.ok(accounts.some(({ id }) => id === account.id));
  });

  it('creates and revokes keys; a revoked one fails on the next request', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    const key = await runJson('create-key', account.id, '--mode', 'test', '--name', 'CI');
    assert.equal(key.object, 'api_key');
    assert.equal(key.name, 'CI');
    assert.equal(key.livemode, false);
    assert.equal(await statusWith(key.secret), 200);
    const revoked = await runJson('revoke-key', key.id);
    assert.equal(revoked.id, key.id);
    assert.ok(Number(revoked.revoked_at) > 0);
    assert.equal(await statusWith(key.secret), 401);
    assert.equal((await runJson('revoke-key', key.id)).revoked_at, revoked.revoked_at);
  });

  it('registers facilitator keys as SPKI DER or raw, and removes them', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    const other = await runJson('create', '--name', 'Other');
    const der = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
    const keyId = `kid-${account.id}`;
    const args = ['--key-id', keyId, '--public-key'];
    assert.equal(
      (await runJson('add-facilitator-key', account.id, ...args, der.toString('base64'))).key_id,
      keyId,
    );
    await runJson('add-facilitator-key', account.id, ...args, der.subarray(-32).toString('base64'));
    await assertRefused(
      /belongs to another account/,
      'add-facilitator-key',
      other.account.id,
      ...args,
      der.toString('base64'),
    );
    await assertRefused(/Ed25519/, 'add-facilitator-key', account.id, ...args, 'bm90IGEga2V5');
    const zero = Buffer.alloc(32);
    const smallOrder = Buffer.concat([der.subarray(0, -32), zero]).toString('base64');
    for (const key of [zero.toString('base64'), smallOrder])
      await assertRefused(/a point of small order/, 'add-facilitator-key', account.id, ...args, key);
    const noPoint = Buffer.alloc(32, 2).fill(0, 1).toString('base64');
    await assertRefused(/no point of the curve/, 'add-facilitator-key', account.id, ...args, noPoint);
    assert.equal((await runJson('remove-facilitator-key', account.id, '--key-id', keyId)).key_id, keyId);
    await assertRefused(/No such facilitator key/, 'remove-facilitator-key', account.id, '--key-id', keyId);
  });

  it('refuses the id of a facilitator key that is blank, not plain text or too long for a token', async () => {
    const { account } = await runJson('create', '--name', 'Shop');
    const der = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' });
    const publicKey = ['--public-key', der.toString('base64')];
    for (const keyId of ['', ' ', 'a\nb', 'k'.repeat(256)]) {
      const args = [account.id, '--key-id', keyId, ...publicKey];
      await assertRefused(/--key-id must be 1 to 255 characters of text/, 'add-facilitator-key', ...args);
    }
    const longest = 'k'.repeat(255);
    const added = await runJson('add-facilitator-key', account.id, '--key-id', longest, ...publicKey);
    assert.equal(added.key_id, longest);
  });

  const refused: [name: string, words: RegExp, ...argv: string[]][] = [
    ['an EVM address with a wrong checksum', /EIP-55/, '--evm', EVM_WALLET.replace('B', 'b')],
    ['the zero address', /non-zero/, '--evm', `0x${'0'.repeat(40)}`],
    ['a short EVM address', /40 hex digits/, '--evm', '0x1234'],
    ["a token's contract", /the token USDC on Base,.* lost/, '--evm', USDC_ON_BASE],
    ["a token's contract in lower case", /the token USDC on Base,/, '--evm', USDC_ON_BASE.toLowerCase()],
    [
      "a token's mint",
      /the token USDC on Solana,/,
      '--solana',
      'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    ],
    ['the system program', /not all of them zero/, '--solana', '1'.repeat(32)],
    ['a Solana address of 31 bytes', /32 bytes/, '--solana', '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ'],
    ['a Solana address that is no base58', /base58/, '--solana', '0OIl'],
    ['a colour that is none', /#1a2b3c/, '--brand-color', 'red'],
    ['a logo that is not https', /https/, '--logo-url', 'http://a.example/l.png'],
    ['a logo at a host of 254 characters', /https/, '--logo-url', `https://${'ü'.repeat(254)}/l.png`],
    ['a support address that is no e-mail', /e-mail/, '--support-email', 'nobody'],
    ['a support address as a link', /e-mail/, '--support-email', 'mailto:help@a.example'],
  ];
  for (const [name, words, ...options] of refused) {
    it(`refuses ${name}`, () => assertRefused(words, 'create', '--name', 'Shop', ...options));
  }

  it('names the missing or unknown option', async () => {
    await assertRefused(/--name is missing/, 'create');
    await assertRefused(/There is no command "make"/, 'make');
    await assertRefused(/--json needs a command/, '--json');
    await assertRefused(/--json needs a command/, '--help', '--json');
    await assertRefused(/Usage: merchants show <id>/, 'show');
    await assertRefused(/--mode must be live or test/, 'create-key', 'acct_none', '--mode', 'both');
  });

  it('names its database on standard error, without the password', async () => {
    const { hostname, pathname } = new URL(testServices().databaseUrl);
    const url = new URL(testServices().databaseUrl);
    if (url.password === '') url.password = 'hunter2';
    process.env.DATABASE_URL = url.href;
    try {
      const { status, stdout, stderr } = await runCommand('list', '--json');
      assert.equal(status, 0, stderr);
      assert.deepEqual(Object.keys(JSON.parse(stdout)), ['accounts']);
      assert.match(stderr, /^Database: [^\n]+\n$/);
      assert.ok(stderr.includes(`${pathname.slice(1)} at `), stderr);
      assert.ok(stderr.includes(url.searchParams.get('host') ?? hostname), stderr);
      assert.ok(!stderr.includes(url.password), stderr);
    } finally {
      process.env.DATABASE_URL = testServices().databaseUrl;
    }
    await assertRefused(/DATABASE_URL is set: unset it/, 'list', '--local');
  });

  it('starts no database of its own in production', async () => {
    const { DATABASE_URL, NODE_ENV } = process.env;
    delete process.env.DATABASE_URL;
    process.env.NODE_ENV = 'production';
    try {
      await assertRefused(/DATABASE_URL is missing/, 'list');
      await assertRefused(/DATABASE_URL is missing/, 'list', '--local');
    } finally {
      process.env.DATABASE_URL = DATABASE_URL;
      if (NODE_ENV === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = NODE_ENV;
    }
  });

  it('prints plain text without --json, and its usage without a command', async () => {
    assert.match((await runCommand('create', '--name', 'Shop')).stdout, /^account\.id: acct_\w+$/m);
    assert.match((await runCommand()).stdout, /add-facilitator-key <acct> --key-id K --public-key B64/);
  });
});
