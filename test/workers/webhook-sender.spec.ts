import assert from 'node:assert/strict';
import { eventually } from '../../lab/world/processes/eventually.js';
import { answer, hang, hangInBody, type Reaction, startReceiver } from '../../lab/world/receiver/receiver.js';
import type { PostResult } from '../../workers/webhook-delivery/post.js';
import { signWebhook } from '../../workers/webhook-delivery/sign.js';
import { forEachTest } from '../support/hooks.js';
import { answered, OK, openWebhookTries, unanswered, WITHIN_MS } from '../support/webhook-tries.js';

describe('one try at a webhook receiver', () => {
  const tries = forEachTest(openWebhookTries);

  it('sends the given bytes and headers by POST', async () => {
    assert.deepEqual(await tries.post(`${tries.receiver.url}?a=%20b`), answered(200));
    const [got] = tries.receiver.got;
    assert.deepEqual([got?.raw, got?.path], ['{"a":1}', '/hooks?a=%20b']);
    assert.equal(got?.headers['content-type'], 'application/json');
    assert.equal(got?.headers['content-length'], '7');
  });

  for (const status of [200, 201, 202, 204, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599]) {
    it(`returns status ${status}`, async () => {
      assert.deepEqual(await tries.whenIt(answer(status)), answered(status));
      assert.equal(tries.receiver.got.length, 1);
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`does not follow ${status}`, async () => {
      const other = await startReceiver();
      tries.closing.push(other);
      assert.deepEqual(await tries.whenIt(answer(status, '', { location: other.url })), answered(status));
      assert.deepEqual([tries.receiver.got.length, other.got.length], [1, 0]);
    });
  }

  for (const status of [102, 103, 199]) {
    it(`goes on waiting after ${status}, which is informational`, async () => {
      const early = `HTTP/1.1 ${status} Early\r\n\r\n`;
      const speaker = await tries.startSpeaker((socket) => socket.write(early));
      assert.deepEqual(await tries.post(speaker.url), unanswered('timeout'));
      const followed = await tries.startSpeaker((socket) => socket.write(early + OK));
      assert.deepEqual(await tries.post(followed.url), answered(200, 'ok'));
    });
  }

  it('waits for a slow answer within its time', async () => {
    const slowly: Reaction = (response) =>
      setTimeout(() => response.writeHead(200).end('late'), WITHIN_MS / 2);
    assert.deepEqual(await tries.whenIt(slowly), answered(200, 'late'));
  });

  it('times out on headers that arrive byte by byte', async () => {
    const speaker = await tries.startSpeaker((socket) => {
      const letters = [...OK];
      const dropping = setInterval(() => socket.write(letters.shift() ?? ''), WITHIN_MS / 10);
      socket.once('close', () => clearInterval(dropping));
    });
    assert.deepEqual(await tries.post(speaker.url), unanswered('timeout'));
    assert.equal(speaker.requests(), 1);
  });

  it('times out without an answer, and closes its connection', async () => {
    assert.deepEqual(await tries.whenIt(hang), unanswered('timeout'));
    await eventually(() => assert.ok(tries.receiver.got[0]?.socket.destroyed));
  });

  it('times out 10 s after its start, DNS query included, and not before', async () => {
    const real = tries.open();
    const timed = async (url: string): Promise<[PostResult, number]> => {
      const started = performance.now();
      return [await tries.post(url, real), performance.now() - started];
    };
    tries.receiver.react((response, { path }) => {
      if (path !== '/hang') setTimeout(() => response.end('just'), 9000);
    });
    const asked: string[] = [];
    const unresolved = tries.open({
      resolve: (name) => {
        asked.push(name);
        return new Promise(() => undefined);
      },
    });
    const startedLookup = performance.now();
    const [[inTime], [tooLate, tookMs], [noName, lookupMs]] = await Promise.all([
      timed(tries.receiver.url),
      timed(tries.receiver.url.replace('/hooks', '/hang')),
      tries
        .post('http://hooks.example/', unresolved)
        .then((result) => [result, performance.now() - startedLookup]) as Promise<[PostResult, number]>,
    ]);
    assert.deepEqual(inTime, answered(200, 'just'));
    assert.deepEqual(tooLate, unanswered('timeout'));
    assert.deepEqual(noName, unanswered('timeout'));
    assert.deepEqual(asked, ['hooks.example']);
    for (const ms of [tookMs, lookupMs]) assert.ok(ms >= 9990 && ms < 11_500, `${ms} ms`);
  });

  it('waits a second for a body that never ends, since the status is known', async () => {
    const started = performance.now();
    assert.deepEqual(await tries.whenIt(hangInBody), { ...answered(200, 'so far'), isCutOff: true });
    const tookMs = performance.now() - started;
    assert.ok(tookMs >= 900 && tookMs < 3000, `${tookMs} ms`);
    await eventually(() => assert.ok(tries.receiver.got[0]?.socket.destroyed));
  });

  it('reads at most 64 KiB of a huge body, and keeps 1 KiB', async () => {
    let written = 0;
    const endless: Reaction = (response) => {
      response.writeHead(200);
      const more = (): void => {
        while (!response.destroyed) {
          written += 16_384;
          if (!response.write('x'.repeat(16_384))) break;
        }
      };
      response.on('drain', more);
      more();
    };
    assert.deepEqual(await tries.whenIt(endless), { ...answered(200, 'x'.repeat(1024)), isCutOff: true });
    await eventually(() => assert.ok(tries.receiver.got[0]?.socket.destroyed));
    // The kernels' socket buffers hold more than the service has read.
    assert.ok(written < 16 * 1024 * 1024, `${written} bytes`);
  });

  it('keeps of any bytes the text that Postgres can store', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a\0b\u0000'),
      Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
    ]);
    const result = await tries.whenIt((response) => response.end(bytes));
    assert.ok(result.kind === 'answered');
    assert.equal(result.answer.slice(0, 2), 'ab');
    assert.doesNotMatch(result.answer, /\0/);
    assert.ok(result.answer.isWellFormed());
  });

  it('keeps no part of a character', async () => {
    for (const [text, kept] of [
      ['é'.repeat(1024), 'é'.repeat(512)],
      [`a${'é'.repeat(1024)}`, `a${'é'.repeat(511)}`],
      [`a${'🥐'.repeat(500)}`, `a${'🥐'.repeat(255)}`],
    ] as const)
      assert.deepEqual(await tries.whenIt((response) => response.end(text)), answered(200, kept));
  });

  it('removes secrets and signatures that a receiver repeats', async () => {
    const secret = `whsec_${Buffer.alloc(32, 0xff).toString('base64')}`;
    const secrets = [secret, `${secret.slice(0, -2)}A=`];
    const { headers } = await signWebhook(secrets, 'evt_1', '{}', 1_700_000_000);
    const echoed = JSON.stringify({ expected: secret, got: headers }).replaceAll('/', '\\/');
    for (const text of [echoed, encodeURIComponent(echoed), echoed.slice(0, 40)]) {
      const kept = await tries.whenIt(answer(401, text));
      assert.ok(kept.kind === 'answered');
      assert.match(kept.answer, /whsec_…/);
      assert.doesNotMatch(kept.answer, /[0-9a-f]{64}|[\w+/\\]{30,}/i);
    }
    assert.deepEqual(
      await tries.whenIt(answer(404, 'POST /api/v1, /v1=x: no')),
      answered(404, 'POST /api/v1, /v1=x: no'),
    );
  });

  it('returns the status of an answer whose body is cut off, too short or malformed', async () => {
    for (const rest of ['Content-Length: 9\r\n\r\nok', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n']) {
      const speaker = await tries.startSpeaker((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
      const result = await tries.post(speaker.url);
      assert.equal(result.kind === 'answered' && result.status, 200, JSON.stringify(result));
      assert.equal(speaker.requests(), 1);
    }
  });

  it('accepts headers of 60 KiB, and fails on 70 KiB', async () => {
    const big = (kib: number): Reaction => answer(200, 'ok', { 'x-big': 'x'.repeat(kib * 1024) });
    assert.deepEqual(await tries.whenIt(big(60)), answered(200, 'ok'));
    assert.deepEqual(await tries.whenIt(big(70)), unanswered('UND_ERR_HEADERS_OVERFLOW'));
    assert.equal(tries.receiver.got.length, 2);
  });

  it('fails on an answer that is not HTTP, after one request', async () => {
    const speaker = await tries.startSpeaker((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    const result = await tries.post(speaker.url);
    assert.equal(result.kind, 'unanswered', JSON.stringify(result));
    assert.equal(speaker.requests(), 1);
  });
});
