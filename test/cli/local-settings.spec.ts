import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Command } from '../../cli/command.js';
import { COMMANDS } from '../../cli/commands.js';
import { EvmChain } from '../../lab/world/chains/evm-chain.js';
import { buildRefund, buildUndecidedPayment } from '../../lab/world/shop/factories.js';
import { keepBaseUrl, localSettings } from '../../local/service/running-sandbox.js';
import { loadConfig } from '../../shared/config/config.js';
import { Payable } from '../../shared/payables/model.js';
import { Payment } from '../../shared/payments/model.js';
import { Event } from '../../shared/webhooks/model.js';
import { type Checkout, openCheckout, type SignedPayment } from '../support/checkout.js';
import { runCommand, saidBy } from '../support/cli.js';
import { useCliDatabase } from '../support/cli-database.js';
import { createMigratedDatabase } from '../support/suite.js';

interface Claimed extends Pick<SignedPayment, 'accepted' | 'payload'> {
  id: string;
}

const BASE_URL = 'http://localhost:3917';

describe('a command on the database of npm start', () => {
  let checkout: Checkout;
  let accountId: string;
  let databaseUrl: string;
  let chain: EvmChain;
  before(async () => {
    databaseUrl = await createMigratedDatabase('local_settings');
    chain = await EvmChain.start(84532);
    const settings = { DATABASE_URL: databaseUrl, ...chainSettings(), SETTLE_WAIT_MS: '0' };
    checkout = await openCheckout({ worker: false, environment: settings });
    ({ accountId } = checkout.merchant);
  });
  useCliDatabase(() => databaseUrl);
  after(async () => {
    await checkout.close();
    await chain.close();
  });

  const chainSettings = (): Record<string, string> => ({ RPC_URL_EIP155_84532: chain.endpoint.url });

  /** Runs the command with the command line's own settings, like those of `npm start`. */
  async function run(name: string, input: Record<string, string>, settings: object): Promise<unknown> {
    const { run: command }: Command = COMMANDS[name] ?? assert.fail(name);
    const config = loadConfig({ DATABASE_URL: databaseUrl, BASE_URL, ...settings }, 'cli');
    const audit = { about: undefined, record: async () => 1, tellIfEnded: () => undefined };
    let stdout = '';
    const write = (text: string): void => {
      stdout += text;
    };
    const context = { config, isJson: true, stderr: { write: () => 0 }, print: () => undefined, write };
    const answer = await checkout.app.db.transaction((trx) => command(trx, input, audit, context));
    return stdout === '' ? answer : JSON.parse(stdout);
  }

  it('gets the address, the key and the chains of that start', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'local-settings-'));
    try {
      assert.equal('BASE_URL' in (await localSettings(folder)), false);
      await keepBaseUrl(folder, 'http://localhost:3000');
      await keepBaseUrl(folder, BASE_URL);
      const settings = await localSettings(folder);
      assert.deepEqual(Object.keys(settings).sort(), ['BASE_URL', 'ENCRYPTION_KEY']);
      assert.equal(settings.BASE_URL, BASE_URL);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('prints and writes links that start with its address', async () => {
    const { db } = checkout.app;
    const refund = await buildRefund(db, accountId);
    const url = `${BASE_URL}/c/${refund.id}`;
    const { payment, session } = await buildUndecidedPayment(db, accountId, { payableId: refund.id });
    await Payable.query(db).patch({ status: 'processing', paymentId: payment.id }).where({ id: refund.id });
    await Payable.query(db).patch({ status: 'open', paymentId: null }).where({ id: session.id });
    const words = { failed: 'true', reason: 'no', 'even-if-it-can-still-arrive': 'true' };
    await run('resolve-payment', { payment: payment.id, ...words }, chainSettings());
    const event = await Event.query(db).findOne({ payableId: refund.id }).throwIfNotFound();
    assert.equal(JSON.parse(JSON.stringify(event.object)).url, url);
    const printed: [name: string, input: Record<string, string>][] = [
      ['show', { subject: refund.id }],
      ['show-payment', { payment: refund.refundedPaymentId ?? '' }],
      ['export', { what: 'refunds', account: accountId }],
    ];
    for (const [name, input] of printed) {
      assert.ok(JSON.stringify(await run(name, input, {})).includes(`"url":"${url}"`), name);
    }
  });

  it('asks its chains for a payment', async () => {
    const claim = async (): Promise<Claimed> => {
      const { id } = await checkout.buildSession();
      const { header, accepted, payload } = await checkout.sign(id);
      await checkout.visit(id, { 'PAYMENT-SIGNATURE': header }).expect(202);
      return { id: (await checkout.payment(id)).id, accepted, payload };
    };
    const [paid, unpaid] = [await claim(), await claim()];
    const { from, to, value, nonce } = paid.payload.authorization;
    const { asset } = paid.accepted;
    const transaction = chain.movePayment({ asset, from, payTo: to, amount: BigInt(value), nonce });
    await run('resolve-payment', { payment: paid.id, paid: transaction }, chainSettings());
    chain.travel(3600);
    chain.mine();
    const { db } = checkout.app;
    const over = { validUntil: new Date(Date.now() - 120_000) };
    await Payment.query(db).patch(over).where('id', unpaid.id);
    await run('resolve-payment', { payment: unpaid.id, failed: 'true', reason: 'no' }, chainSettings());
    const statuses = await Payment.query(db).findByIds([paid.id, unpaid.id]).orderBy('id');
    assert.deepEqual(
      statuses.map(({ status, failureCode }) => [status, failureCode]),
      [
        ['succeeded', null],
        ['failed', 'no'],
      ],
    );
  });

  it('seals with its key', async () => {
    const key = randomBytes(32);
    const answer = await run('reseal-secrets', {}, { ENCRYPTION_KEY: key.toString('base64') });
    assert.deepEqual(answer, { resealed: 0, already_current: 0, unreadable: 0, unreadable_endpoints: [] });
  });

  describe('in production without BASE_URL', () => {
    const { NODE_ENV } = process.env;
    before(() => {
      process.env.NODE_ENV = 'production';
    });
    after(() => {
      if (NODE_ENV === undefined) delete process.env.NODE_ENV;
      else process.env.NODE_ENV = NODE_ENV;
      delete process.env.BASE_URL;
    });

    it('says in one line that buyers cannot open its links, where it has links', async () => {
      const { id, refundedPaymentId } = await buildRefund(checkout.app.db, accountId);
      const line =
        /^BASE_URL is not set, or names this host: links start with http:\/\/localhost:3000, .*\n$/;
      const say = async (...argv: string[]): Promise<string> => saidBy(await runCommand(...argv));
      assert.match(await say('show', id), line);
      assert.match(await say('show-payment', refundedPaymentId ?? ''), line);
      const [first] = (await say('export', 'refunds', '--account', accountId)).split('\n', 1);
      assert.match(`${first}\n`, line);
      assert.equal(await say('list'), '');
      process.env.BASE_URL = 'https://pay.example';
      assert.equal(await say('show', id), '');
    });
  });
});
