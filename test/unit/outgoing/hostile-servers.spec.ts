import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { openImageDownloader } from '../../../api/merchant-images/download-image.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { createChains } from '../../../shared/chains/chains.js';
import { throttleEvm } from '../../../shared/chains/evm/throttled-evm.js';
import { findNetwork } from '../../../shared/chains/networks/networks.js';
import { throttleSolana } from '../../../shared/chains/solana/throttled-solana.js';
import {
  ANSWER_BYTES_PER_FURTHER_PIECE,
  IMAGE_BYTES_IN_FLIGHT,
  MAX_ANSWER_PIECES,
  MAX_CHAIN_ANSWER_BYTES,
  MAX_INTERIM_ANSWERS,
  MAX_RECEIVER_ANSWER_PIECES,
} from '../../../shared/limits/bounds.js';
import { openBudget } from '../../../shared/limits/budget.js';
import { createFacilitator } from '../../../shared/x402/facilitator/facilitator.js';
import { createWebhookSender } from '../../../workers/webhook-delivery/post.js';
import { forEachTest } from '../../support/hooks.js';
import { SPEECHES, type SpeechName, startHostileServer } from '../../support/hostile-server.js';
import { buildEvmQuery } from '../chains/evm-payment.js';
import { buildSolanaPayment } from '../chains/solana-payment.js';
import { UNPACED } from '../chains/unpaced.js';

const NAMES = Object.keys(SPEECHES) as SpeechName[];
const WITHIN_MS = 1500;
/** The speeches in which headers with a final status arrive whole. */
const IN_BODY = new Set<SpeechName>([
  'one-byte chunks without end',
  'chunk extensions without end',
  'one chunk extension without end',
  'trailers without end',
  'a body without end',
]);

const UNCLEAR: Record<SpeechName, RegExp> = {
  'interim answers without end': /TOO_MANY_INTERIM_ANSWERS/,
  'one-byte chunks without end': /TOO_MANY_PIECES/,
  'chunk extensions without end': /ANSWER_TOO_LONG/,
  'one chunk extension without end': /ANSWER_TOO_LONG/,
  'headers without end': /UND_ERR_HEADERS_OVERFLOW/,
  'one header without end': /UND_ERR_HEADERS_OVERFLOW/,
  'trailers without end': /UND_ERR_HEADERS_OVERFLOW/,
  'a body without end': /ANSWER_TOO_LONG/,
  'a status line without end': /UND_ERR_HEADERS_OVERFLOW/,
  silence: /TimeoutError/,
};

describe('a hostile server', () => {
  const server = forEachTest(startHostileServer);
  let heads = 0;
  let pieces = 0;
  const onHead = (): void => {
    heads += 1;
  };
  const onPiece = (): void => {
    pieces += 1;
  };

  beforeEach(() => {
    heads = 0;
    pieces = 0;
    subscribe('undici:request:headers', onHead);
    subscribe('undici:request:bodyChunkReceived', onPiece);
  });
  afterEach(() => {
    unsubscribe('undici:request:headers', onHead);
    unsubscribe('undici:request:bodyChunkReceived', onPiece);
  });

  /** Every connection is closed, and no more was parsed than one answer may have. */
  async function assertCutOff(bodyBytes: number, mostPieces = MAX_ANSWER_PIECES): Promise<void> {
    assert.ok(server.requests() > 0);
    await eventually(() => assert.equal(server.open(), 0));
    assert.ok(heads <= server.requests() * (MAX_INTERIM_ANSWERS + 1), `${heads} heads`);
    const most = 1 + mostPieces + bodyBytes / ANSWER_BYTES_PER_FURTHER_PIECE;
    assert.ok(pieces <= server.requests() * most, `${pieces} pieces`);
  }

  for (const name of NAMES) {
    it(`that sends a webhook ${name} has answered when its status line and headers came`, async () => {
      server.say(SPEECHES[name]);
      const sender = createWebhookSender({ allowPrivateNetworks: true, headersWithinMs: WITHIN_MS });
      const result = await sender.post(server.url, {}, Buffer.from('{}'));
      if (IN_BODY.has(name)) assert.equal(result.kind === 'answered' && result.status, 200);
      else {
        assert.equal(result.kind, 'unanswered');
        const expected = name === 'silence' ? /^timeout$/ : UNCLEAR[name];
        assert.match(result.kind === 'unanswered' ? result.error : '', expected);
      }
      assert.equal(server.requests(), 1);
      await assertCutOff(64 * 1024, MAX_RECEIVER_ANSWER_PIECES);
      await sender.close();
    });

    it(`that sends a merchant's image with ${name} has no image`, async () => {
      server.say(SPEECHES[name]);
      const budget = openBudget({ total: IMAGE_BYTES_IN_FLIGHT });
      const images = openImageDownloader({ allowPrivateNetworks: true }, budget);
      const found = await images.download(`${server.url}/a.png`, 'acct_1').catch(() => undefined);
      assert.equal(found, undefined);
      await assertCutOff(2 * 1024 * 1024);
      assert.equal(budget.used, 0);
      await images.close();
    });

    it(`that answers /settle with ${name} leaves the payment unclear`, async () => {
      server.say(SPEECHES[name]);
      const facilitator = createFacilitator({
        name: 'hostile',
        variable: 'FACILITATOR_URL',
        url: server.url,
        auth: { kind: 'none' },
        timeoutMs: WITHIN_MS,
        settleTimeoutMs: WITHIN_MS,
      });
      const request = { paymentRequirements: { network: 'eip155:84532' } } as never;
      const settled = await facilitator.settle(request);
      assert.equal(settled.kind, 'unknown');
      assert.match('why' in settled ? settled.why : '', UNCLEAR[name]);
      assert.equal(server.requests(), 1);
      const verified = await facilitator.verify(request);
      assert.equal(verified.kind, 'unavailable');
      await assertCutOff(256 * 1024);
      await facilitator.close();
    });

    it(`that answers for an EVM chain with ${name} decides nothing`, async () => {
      server.say(SPEECHES[name]);
      const chains = createChains(new Map([['EIP155_84532', server.url]]), {
        pace: UNPACED,
        checkTimeoutMs: WITHIN_MS,
      });
      const finding = await chains.check(buildEvmQuery());
      assert.equal(finding.kind, 'unreadable');
      chains.close();
      await assertCutOff(MAX_CHAIN_ANSWER_BYTES);
    });

    it(`that answers for Solana with ${name} decides nothing`, async () => {
      server.say(SPEECHES[name]);
      const chains = createChains(new Map([['SOLANA_DEVNET', server.url]]), {
        pace: UNPACED,
        checkTimeoutMs: WITHIN_MS,
      });
      const { query } = buildSolanaPayment('11111111111111111111111111111111');
      const finding = await chains.check(query);
      assert.equal(finding.kind, 'unreadable');
      chains.close();
      await assertCutOff(MAX_CHAIN_ANSWER_BYTES);
    });
  }

  it('is reported with the bound that it exceeded, and never with its address', async () => {
    server.say(SPEECHES['a body without end']);
    const urls = new Map([
      ['EIP155_84532', `${server.url}/key`],
      ['SOLANA_DEVNET', `${server.url}/key`],
    ]);
    const chains = createChains(urls, { pace: UNPACED });
    const reason = "the endpoint's answer was not read: the answer is too long";
    for (const query of [buildEvmQuery(), buildSolanaPayment('11111111111111111111111111111111').query]) {
      const finding = await chains.check(query);
      assert.equal('reason' in finding && finding.reason, reason);
    }
    const evm = findNetwork('eip155:84532');
    const solana = findNetwork('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1');
    assert.ok(evm?.family === 'evm' && solana?.family === 'svm');
    const wallet = `0x${'1'.repeat(40)}` as const;
    assert.deepEqual(await throttleEvm(urls, WITHIN_MS).tokenBalances(evm, wallet), {
      kind: 'unreadable',
      reason,
    });
    assert.deepEqual(await throttleSolana(urls).latestBlockhash(solana), { kind: 'unreadable', reason });
    chains.close();
    await assertCutOff(MAX_CHAIN_ANSWER_BYTES);
  });
});
