import assert from 'node:assert/strict';
import path from 'node:path';
import { buildConnector } from 'undici';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { ChainUnreadable } from '../../../shared/chains/check/unreadable.js';
import { fetchFromEndpoint } from '../../../shared/chains/rpc/endpoint-fetch.js';
import * as bounds from '../../../shared/limits/bounds.js';
import { exchange } from '../../../shared/outgoing/exchange.js';
import { openOutgoing } from '../../../shared/outgoing/outgoing-agent.js';
import { createFacilitator } from '../../../shared/x402/facilitator/facilitator.js';
import { createWebhookSender } from '../../../workers/webhook-delivery/post.js';
import { forEachTest } from '../../support/hooks.js';
import { startHostileServer } from '../../support/hostile-server.js';
import { ROOT } from '../../support/source-graph.js';
import { UNITS } from '../../support/units/units.js';

const EARLY = 'HTTP/1.1 103 Early Hints\r\n\r\n';
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n';
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const withBody = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const inPieces = (pieces: number): string => `${CHUNKED}${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`;

describe('the units of an answer in test/support/units/units.ts', () => {
  const server = forEachTest(startHostileServer);

  /** The outcome of one request that is answered so. */
  async function read(answer: string): Promise<string> {
    server.say({ start: answer });
    const { dispatcher, destroy } = openOutgoing(
      { bodyBytes: bounds.MAX_RECEIVER_ANSWER_BYTES, pieces: bounds.MAX_ANSWER_PIECES },
      { connect: buildConnector({}), maxHeaderSize: bounds.MAX_ANSWER_HEAD_BYTES },
    );
    const request = { origin: server.url, path: '/', method: 'POST' as const, body: '{}' };
    const terms = { maxAnswerBytes: bounds.MAX_RECEIVER_ANSWER_BYTES };
    const outcome = await exchange(dispatcher, request, terms).then(
      ({ status }) => String(status),
      (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
    );
    await destroy();
    return outcome;
  }

  /** Pieces of one byte each. */
  const mostPieces = (most: number): number =>
    most + Math.floor(most / bounds.ANSWER_BYTES_PER_FURTHER_PIECE);

  /** An answer within the bounds keeps its connection. */
  async function triesReceiver(answer: (beyond: number) => string): Promise<void> {
    const senders = [0, 1].map(() => createWebhookSender({ allowPrivateNetworks: true }));
    for (const [beyond, sender] of senders.entries()) {
      server.say({ start: answer(beyond) });
      const result = await sender.post(server.url, {}, Buffer.from('{}'));
      assert.equal(result.kind === 'answered' && result.status, 200);
    }
    assert.equal(server.requests(), 2);
    await eventually(() => assert.equal(server.open(), 1, 'only the first connection is kept'));
    for (const sender of senders) await sender.close();
    await eventually(() => assert.equal(server.open(), 0));
  }

  /** Each trial uses the whole bound, and one step beyond. */
  const trials: Record<string, () => Promise<void>> = {
    async MAX_ANSWER_HEAD_BYTES() {
      const head = (bytes: number): string => `${HEAD}X: ${'x'.repeat(bytes - HEAD.length - 7)}\r\n\r\n`;
      assert.equal(await read(head(bounds.MAX_ANSWER_HEAD_BYTES)), '200');
      assert.equal(await read(head(bounds.MAX_ANSWER_HEAD_BYTES + 1)), 'UND_ERR_HEADERS_OVERFLOW');
    },
    async MAX_ANSWER_HEAD_LINES() {
      const head = (lines: number): string => `${HEAD}${'x: y\r\n'.repeat(lines - 3)}\r\n`;
      assert.equal(await read(head(bounds.MAX_ANSWER_HEAD_LINES)), '200');
      assert.equal(await read(head(bounds.MAX_ANSWER_HEAD_LINES + 1)), 'UND_ERR_HEADERS_OVERFLOW');
    },
    async MAX_INTERIM_ANSWERS() {
      const early = (interim: number): string => `${EARLY.repeat(interim)}${HEAD}\r\n`;
      assert.equal(await read(early(bounds.MAX_INTERIM_ANSWERS)), '200');
      assert.equal(await read(early(bounds.MAX_INTERIM_ANSWERS + 1)), 'TOO_MANY_INTERIM_ANSWERS');
    },
    async MAX_ANSWER_PIECES() {
      const most = mostPieces(bounds.MAX_ANSWER_PIECES);
      const ask = async (pieces: number): Promise<string> => {
        server.say({ start: inPieces(pieces).replace('OK', 'OK\r\nConnection: close') });
        return await (await fetchFromEndpoint(server.url, { method: 'POST', body: '{}' })).text();
      };
      assert.equal((await ask(most)).length, most);
      await assert.rejects(ask(most + 1), ChainUnreadable);
    },
    async MAX_RECEIVER_ANSWER_PIECES() {
      await triesReceiver((beyond) => inPieces(mostPieces(bounds.MAX_RECEIVER_ANSWER_PIECES) + beyond));
    },
    async MAX_RECEIVER_ANSWER_BYTES() {
      await triesReceiver((beyond) => withBody('x'.repeat(bounds.MAX_RECEIVER_ANSWER_BYTES + beyond)));
    },
    async MAX_FACILITATOR_ANSWER_BYTES() {
      const verify = async (bytes: number): Promise<string> => {
        server.say({ start: withBody('{"isValid":false,"invalidReason":"x"}'.padEnd(bytes)) });
        const { url } = server;
        const facilitator = createFacilitator({
          name: 'long',
          variable: 'FACILITATOR_URL',
          url,
          auth: { kind: 'none' },
          timeoutMs: 60_000,
          settleTimeoutMs: 60_000,
        });
        const request = { paymentRequirements: { network: 'eip155:84532' } } as never;
        const { kind } = await facilitator.verify(request);
        await facilitator.close();
        return kind;
      };
      assert.notEqual(await verify(bounds.MAX_FACILITATOR_ANSWER_BYTES), 'unavailable');
      assert.equal(await verify(bounds.MAX_FACILITATOR_ANSWER_BYTES + 1), 'unavailable');
    },
  };

  for (const [name, { unit, triedIn }] of Object.entries(UNITS)) {
    if (path.join(ROOT, triedIn) !== import.meta.filename) continue;
    it(`${unit}: ${name}`, async () => {
      await (trials[name] ?? assert.fail('no trial'))();
    });
  }
});
