import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { buildSession } from '../../../lab/world/shop/factories.js';
import { MAX_BODY_BYTES } from '../../../shared/limits/bounds.js';
import { forAllTests } from '../../support/hooks.js';
import { assertFine, assertInvalid } from '../../support/hostile-input/assert-answers.js';
import { type Answer, openHostileClient } from '../../support/hostile-input/client.js';
import { COFFEE_FORM, FORM_TYPE, JSON_TYPE, minimal } from '../../support/hostile-input/order.js';
import { PAYMENTS, SESSIONS } from '../../support/orders.js';

describe('hostile input', () => {
  const web = forAllTests(openHostileClient);
  afterEach(() => web.assertUnharmed());

  describe('as a body', () => {
    const padded = (bytes: number): string => {
      const text = JSON.stringify(minimal);
      return text + ' '.repeat(bytes - text.length);
    };
    const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
    const encoders = {
      gzip: gzipSync,
      deflate: deflateSync,
      br: (bytes: string | Buffer) => brotliCompressSync(bytes, quickly),
    };

    for (const [encoding, encode] of Object.entries(encoders)) {
      it(`in ${encoding} is refused, a decompression bomb and a broken one alike`, async () => {
        const encoded = encode(JSON.stringify(minimal));
        const bomb = encode(Buffer.alloc(64 * 1024 * 1024));
        for (const bytes of [encoded, encoded.subarray(0, -3), bomb, Buffer.from('nothing like it')]) {
          for (const name of [encoding, encoding.toUpperCase(), ` ${encoding}`, `${encoding}, ${encoding}`]) {
            const answer = await web.post(bytes, { ...JSON_TYPE, 'Content-Encoding': name });
            assertInvalid(answer, 'unsupported_content_encoding');
            assert.match(JSON.parse(answer.text).error.message, /Content-Encoding/);
          }
        }
      });
    }

    it('in an unknown encoding is refused', async () => {
      for (const encoding of ['zstd', 'compress', 'identity, gzip', 'gzip;q=1', 'utf-8', 'x'.repeat(1000)]) {
        const answer = await web.post('{}', { ...JSON_TYPE, 'Content-Encoding': encoding });
        assertInvalid(answer, 'unsupported_content_encoding');
      }
    });

    it('in identity encoding is accepted, by any of its names', async () => {
      const text = JSON.stringify(minimal);
      for (const encoding of ['identity', 'IDENTITY', ' identity ', '']) {
        assertFine(await web.post(text, { ...JSON_TYPE, 'Content-Encoding': encoding }));
      }
      assertInvalid(await web.post('', { 'Content-Encoding': 'gzip' }), 'parameter_missing', 'line_items');
    });

    it('that is compressed is refused before it is read', async () => {
      for (const [line, code] of [
        [`POST ${SESSIONS}`, 'unsupported_content_encoding'],
        ['POST /mcp', 'unsupported_content_encoding'],
        [
          `POST /c/${(await buildSession(web.db, web.shop.accountId)).id}/transaction`,
          'invalid_payment_payload',
        ],
      ] as const) {
        for (const length of ['Content-Length: 1000', 'Transfer-Encoding: chunked']) {
          const head = web.head(
            line,
            'Content-Type: application/json',
            'Content-Encoding: gzip',
            length,
            'Connection: close',
          );
          const answer = await web.exchange(head);
          assert.match(answer, new RegExp(`^HTTP/1\\.1 400 .*"code":"${code}"`, 's'), line);
        }
      }
    });

    it('that is compressed for the transfer is refused, also where its bytes are plain', async () => {
      const text = JSON.stringify(minimal);
      for (const coding of ['gzip, chunked', 'GZIP,chunked', 'gzip\r\nTransfer-Encoding: chunked']) {
        for (const bytes of [gzipSync(text), Buffer.from(text)]) {
          const head = web.head(`POST ${SESSIONS}`, `Transfer-Encoding: ${coding}`, 'Connection: close');
          const parts = [head, `${bytes.length.toString(16)}\r\n`, bytes, '\r\n0\r\n\r\n'];
          const answer = await web.exchange(Buffer.concat(parts.map((part) => Buffer.from(part))));
          assert.match(answer, /^HTTP\/1\.1 400 .*"code":"unsupported_content_encoding"/s, coding);
          assert.match(answer, /no Transfer-Encoding but chunked/);
        }
      }
    });

    it('that was refused for its encoding is discarded: its connection stays usable', async () => {
      const packed = gzipSync(JSON.stringify(minimal));
      const head = web.head(`POST ${SESSIONS}`, 'Content-Encoding: gzip', `Content-Length: ${packed.length}`);
      const next = web.head(`GET ${SESSIONS}?limit=1`, 'Connection: close');
      const answer = await web.exchange(Buffer.concat([Buffer.from(head), packed, Buffer.from(next)]));
      assert.deepEqual(
        [...answer.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
        ['400', '200'],
      );
    });

    it('in chunks is read up to 2 MiB, and refused above', async () => {
      assertFine(await sendInChunks(padded(MAX_BODY_BYTES), 64 * 1024));
      assertInvalid(await sendInChunks(padded(MAX_BODY_BYTES + 1), 64 * 1024), 'body_too_large');
      assertFine(await sendInChunks(JSON.stringify(minimal), 1));
    });

    async function sendInChunks(text: string, size: number): Promise<Answer> {
      const { outgoing, answer } = web.begin({
        method: 'POST',
        path: SESSIONS,
        headers: {
          ...JSON_TYPE,
          Authorization: `Bearer ${web.shop.testKey}`,
          'Transfer-Encoding': 'chunked',
        },
      });
      for (let at = 0; at < text.length; at += size) outgoing.write(text.slice(at, at + size));
      outgoing.end();
      return await answer;
    }

    it('that is announced as too large is refused before it is sent', async () => {
      const answer = await web.exchange(web.postHead('Content-Length: 5000000000', 'Connection: close'));
      assert.match(answer, /^HTTP\/1\.1 400 .*"code":"body_too_large"/s);
    });

    it('that is longer than announced ends the connection, and its rest has no effect', async () => {
      const before = await web.sessionCount();
      const text = JSON.stringify(minimal);
      const answer = await web.exchange(web.postHead('Content-Length: 10') + text);
      assert.match(answer, /HTTP\/1\.1 400 Bad Request\r\n/);
      assert.ok(!answer.includes('200 OK'));
      assert.equal(await web.sessionCount(), before);
    });

    const unclear: [why: string, headers: string[], body: string][] = [
      ['two lengths', ['Content-Length: 2', 'Content-Length: 3'], '{} '],
      ['a length and chunks', ['Content-Length: 2', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
      ['a negative length', ['Content-Length: -1'], ''],
      ['a length in hex', ['Content-Length: 0x2'], '{}'],
      ['chunks without a size', ['Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n'],
      ['chunks that end early', ['Transfer-Encoding: chunked'], 'ff\r\n{}'],
      ['a transfer coding that hides chunks', ['Transfer-Encoding: chunked, identity'], '0\r\n\r\n'],
    ];
    for (const [why, headers, body] of unclear) {
      it(`with ${why} is refused by the HTTP parser: 400, and the connection ends`, async () => {
        const before = await web.sessionCount();
        const request = web.postHead(...headers) + body;
        const answer = await web.exchange(request, { end: true });
        assert.match(answer, /^(HTTP\/1\.1 400 Bad Request\r\n.*)?$/s);
        assert.ok(!answer.includes('200 OK'));
        assert.equal(await web.sessionCount(), before);
        assertFine(await web.json(minimal));
      });
    }

    it('that is never finished has no effect, and is not a server error', async () => {
      const before = await web.sessionCount();
      const head = web.postHead(`Content-Length: ${JSON.stringify(minimal).length}`);
      const cuts: [cut: (socket: Socket) => void, logged: RegExp][] = [
        [(socket) => socket.destroy(), /"status":400,"code":"malformed_request"/],
        [(socket) => socket.resetAndDestroy(), /"aborted":true/],
      ];
      for (const [cut, logged] of cuts) {
        web.logged.length = 0;
        const socket = connect(web.port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(head + JSON.stringify(minimal).slice(0, 20));
        const [req] = await once(web.server, 'request');
        await once(req, 'readable');
        cut(socket);
        await eventually(() => assert.match(web.logged.join(''), logged));
        assert.doesNotMatch(web.logged.join(''), /"level":"(error|fatal)"/);
      }
      assert.equal(await web.sessionCount(), before);
    });

    it('is not read without a key', async () => {
      const answer = await web.exchange(
        `POST ${SESSIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nConnection: close\r\n\r\n`,
      );
      assert.match(answer, /^HTTP\/1\.1 401 .*"code":"api_key_missing"/s);
    });

    it('is ignored where none is expected', async () => {
      const { id } = await buildSession(web.db, web.shop.accountId);
      for (const [method, path] of [
        ['GET', `${SESSIONS}/${id}`],
        ['GET', SESSIONS],
        ['GET', PAYMENTS],
      ] as const) {
        assertFine(await web.send({ method, path, headers: JSON_TYPE, body: '{"broken' }));
      }
    });
  });

  describe('as a content type', () => {
    const text = JSON.stringify(minimal);
    for (const type of [
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
      'application/json, application/json',
      'application/jsonp',
      'application/x-json',
      'application/json/',
      'json',
      ';',
      'text/json',
      'application/x-www-form-urlencoded2',
      'application/\u00e9+json',
      'x'.repeat(5000),
    ]) {
      it(`${type.slice(0, 40)} is refused`, async () => {
        assertInvalid(await web.post(text, { 'Content-Type': type }), 'unsupported_content_type');
        assertInvalid(await web.post(COFFEE_FORM, { 'Content-Type': type }), 'unsupported_content_type');
      });
    }

    it('that is missing or empty is refused, unless the body is empty', async () => {
      assertInvalid(await web.post(text, {}), 'unsupported_content_type');
      assertInvalid(await web.post(text, { 'Content-Type': '' }), 'unsupported_content_type');
      for (const headers of [
        {},
        JSON_TYPE,
        FORM_TYPE,
        { 'Content-Type': 'text/plain' },
        { 'Content-Type': 'image/png' },
      ]) {
        assertInvalid(await web.post('', headers), 'parameter_missing', 'line_items');
      }
    });

    for (const type of [
      'APPLICATION/JSON',
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
      'application/json ; charset=utf8; q=1',
      'application/vnd.api+json',
      'application/merge-patch+json; charset=utf-8',
    ]) {
      it(`${type} is JSON`, async () => {
        assertFine(await web.post(text, { 'Content-Type': type }));
      });
    }

    it('application/json may begin with a byte order mark', async () => {
      assertFine(await web.post(`\ufeff${text}`));
    });

    for (const type of [
      'Application/X-WWW-Form-Urlencoded',
      'application/x-www-form-urlencoded; charset=UTF-8',
      'application/x-www-form-urlencoded;',
    ]) {
      it(`${type} is a form`, async () => {
        assertFine(await web.post(COFFEE_FORM, { 'Content-Type': type }));
      });
    }

    it('does not make non-UTF-8 bytes readable', async () => {
      const umlaut = text.replace('Coffee', 'Käffee');
      for (const charset of ['utf-16', 'utf-16le', 'iso-8859-1', 'utf-8']) {
        const headers = { 'Content-Type': `application/json;charset=${charset}` };
        for (const encoding of ['utf16le', 'latin1'] as const) {
          assertInvalid(await web.post(Buffer.from(umlaut, encoding), headers), 'malformed_body');
        }
      }
      const formBytes = Buffer.from(`${COFFEE_FORM}&client_reference_id=ä`, 'latin1');
      assertInvalid(await web.post(formBytes, FORM_TYPE), 'malformed_body');
    });

    it('must match the body: JSON as a form and a form as JSON are refused', async () => {
      assertInvalid(await web.post(COFFEE_FORM), 'malformed_body');
      assertInvalid(await web.form(text), 'parameter_missing', 'line_items');
    });
  });
});
