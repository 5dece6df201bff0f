import assert from 'node:assert/strict';
import { buildConnector } from 'undici';
import { exchange } from '../../../shared/outgoing/exchange.js';
import { HeadScan } from '../../../shared/outgoing/head-scan.js';
import { openOutgoing } from '../../../shared/outgoing/outgoing-agent.js';
import { forEachTest } from '../../support/hooks.js';
import { startHostileServer } from '../../support/hostile-server.js';

const CREATED =
  'HTTP/1.1 201 Created\r\nX-Code: HTTP/1.1 100\r\nContent-Length: 20\r\n\r\nHTTP/1.1 100 is text';
const INTERIM = ['100 Continue', '102 Processing', '103 Early Hints'].map(
  (line) => `HTTP/1.1 ${line}\r\n\r\n`,
);

/** A client has to expect an interim answer that it did not ask for (RFC 9110, 15.2). */
describe('interim answers', () => {
  const server = forEachTest(startHostileServer);

  for (const interim of [...INTERIM, INTERIM.join('')]) {
    it(`do not end a call: ${JSON.stringify(interim)}`, async () => {
      server.say({ start: interim + CREATED });
      const bounds = { bodyBytes: 1000, pieces: 100 };
      const { dispatcher, destroy } = openOutgoing(bounds, { connect: buildConnector({}) });
      const request = { origin: server.url, path: '/', method: 'POST' as const, body: '{}' };
      const { status, header, body } = await exchange(dispatcher, request, { maxAnswerBytes: 1000 });
      assert.deepEqual(
        [status, header('x-code'), body.toString()],
        [201, 'HTTP/1.1 100', 'HTTP/1.1 100 is text'],
      );
      await destroy();
    });
  }

  it('are passed on as 102 wherever the wire splits them', () => {
    const sent = INTERIM[0] + CREATED;
    for (let split = 0; split <= sent.length; split += 1) {
      const scan = new HeadScan();
      const parts = [sent.slice(0, split), sent.slice(split)].map((part) => Buffer.from(part));
      for (const part of parts) scan.read(part);
      assert.equal(Buffer.concat(parts).toString(), sent.replace('1.1 100 Continue', '1.1 102 Continue'));
    }
  });
});
