import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import request from 'supertest';
import { createApp } from '../../../api/app.js';
import { closeDeps, openDeps } from '../../../api/process/open-deps.js';
import { altered, answers, type Behaviour, failsToSettle } from '../../../lab/world/facilitator/dial.js';
import { startFacilitator } from '../../../lab/world/facilitator/facilitator.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { paymentHeader, signEvmPayment } from '../../../lab/world/shop/agent.js';
import { buildMerchant, buildSession } from '../../../lab/world/shop/factories.js';
import { loadConfig } from '../../../shared/config/config.js';
import type { Knex } from '../../../shared/db/knex.js';
import { createLogger } from '../../../shared/process/logger.js';
import { startWorker } from '../../../workers/process/start-worker.js';
import { BUYER, findEntry } from '../../support/checkout.js';
import { testServices } from '../../support/suite.js';

/** Neither buyers nor logs get the facilitator's free texts, nor the buyer's signature. */
describe('neither answers nor logs contain', () => {
  const SECRET = 'calldata 0xe3ee160e000000000000';
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });

  it('the facilitator’s messages, the signature or the payment header, for any outcome', async () => {
    const facilitator = await startFacilitator();
    const { databaseUrl, redisUrl } = testServices();
    const environment = {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      FACILITATOR_URL: facilitator.url,
      BASE_URL: 'https://pay.example',
      LOG_LEVEL: 'trace',
      RATE_LIMIT_LINK_PER_MINUTE: '1000000',
      RPC_URL_EIP155_84532: 'http://127.0.0.1:1',
    };
    const webLogger = createLogger('trace', 'web', sink);
    const deps = openDeps(loadConfig(environment, 'web'), webLogger);
    const server = createServer(createApp(deps));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const worker = await startWorker(
      loadConfig(environment, 'worker'),
      createLogger('trace', 'worker', sink),
    );
    const { accountId } = await buildMerchant(deps.db);
    const answered: string[] = [];
    const signatures: string[] = [];

    async function pay(): Promise<{ status: number; id: string }> {
      const { id } = await buildSession(deps.db, accountId);
      const link = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { body: quote } = await request(link).get(`/c/${id}`);
      const entry = findEntry(quote.accepts, 'eip155:84532');
      const payload = await signEvmPayment(entry, { account: BUYER });
      const header = paymentHeader(entry, payload);
      signatures.push(payload.signature, header, payload.signature.slice(2));
      const res = await request(link).get(`/c/${id}`).set('PAYMENT-SIGNATURE', header);
      const later = await request(link).get(`/c/${id}`);
      for (const { text, headers } of [res, later]) answered.push(text, decodeAll(headers));
      return { status: res.status, id };
    }

    const freeTexts = { invalidMessage: SECRET, errorMessage: SECRET, error: SECRET, extra: { SECRET } };
    const verify: [Behaviour, number][] = [
      [answers(200, { isValid: false, invalidReason: 'insufficient_funds', ...freeTexts }), 402],
      [answers(200, { isValid: false, invalidReason: SECRET, ...freeTexts }), 402],
      [answers(200, { isValid: false, invalidReason: 'invalid_exact_evm_signature', ...freeTexts }), 503],
      [answers(200, { isValid: false, invalidReason: 'asset_not_deployed_contract', ...freeTexts }), 402],
      [answers(500, freeTexts), 503],
      [answers(200, SECRET), 503],
    ];
    // After an unclear answer `/verify` calls the payload valid, and the next call settles it.
    const settle: [Behaviour, number][] = [
      [
        answers(200, { success: false, errorReason: 'kyt_risk_detected', transaction: '', ...freeTexts }),
        402,
      ],
      [answers(200, { success: false, errorReason: SECRET, transaction: '', ...freeTexts }), 200],
      [failsToSettle('unexpected_settle_error'), 200],
      [altered(freeTexts), 200],
      [altered({ payer: undefined, ...freeTexts }), 200],
    ];
    for (const [behaviour, status] of verify) {
      facilitator.verify.next(behaviour);
      assert.equal((await pay()).status, status);
    }
    for (const [behaviour, status] of settle) {
      facilitator.settle.next(behaviour);
      assert.equal((await pay()).status, status);
    }
    await refuseClaims(deps.db, accountId);
    assert.equal((await pay()).status, 500);
    await allowClaims(deps.db);

    await eventually(() => assert.match(lines.join(''), /request\.failed/));
    await worker.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    deps.settlements.close();
    await closeDeps(deps);
    await facilitator.close();

    assert.ok(lines.length > 30 && answered.length > 40);
    for (const text of [...lines, ...answered]) {
      assert.ok(!text.includes('calldata') && !text.includes('0xe3ee160e'), text);
      const shown = signatures.find((signature) => text.includes(signature));
      assert.equal(shown, undefined, text);
    }
  });

  async function refuseClaims(db: Knex, accountId: string): Promise<void> {
    await db.raw(`
      CREATE FUNCTION refuse_claims() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'claims are refused'; END $$`);
    await db.raw(`
      CREATE TRIGGER refuse_claims BEFORE INSERT ON payments FOR EACH ROW
      WHEN (NEW.account_id = '${accountId}') EXECUTE FUNCTION refuse_claims()`);
  }

  async function allowClaims(db: Knex): Promise<void> {
    await db.raw('DROP FUNCTION refuse_claims CASCADE');
  }

  function decodeAll(headers: Record<string, string>): string {
    const { 'payment-required': required = '', 'payment-response': response = '' } = headers;
    return [required, response].map((text) => Buffer.from(text, 'base64').toString()).join();
  }
});
