import assert from 'node:assert/strict';
import { createServer, type Server, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import {
  createWebhookSender,
  type PostResult,
  type SenderOptions,
  type WebhookSender,
} from '../../workers/webhook-delivery/post.js';
import { signatureHeaders } from '../../workers/webhook-delivery/sign.js';
import { eventually } from '../support/eventually.js';
import {
  answer,
  hang,
  hangInBody,
  type Reaction,
  type Receiver,
  reset,
  startReceiver,
} from '../support/receiver.js';
import { SELF_SIGNED } from '../support/self-signed.js';

const WITHIN_MS = 800;

describe('one try at a receiver', () => {
  let receiver: Receiver;
  let sender: WebhookSender;
  const closing: { close(): Promise<unknown> }[] = [];
  beforeEach(async () => {
    receiver = await startReceiver();
    sender = open({ headersWithinMs: WITHIN_MS });
    closing.push(receiver);
  });
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((one) => one.close()));
  });

  function open(options: Partial<SenderOptions> = {}): WebhookSender {
    const opened = createWebhookSender({ allowPrivateNetworks: true, ...options });
    closing.push(opened);
    return opened;
  }

  async function post(url = receiver.url, by = sender): Promise<PostResult> {
    const result = await by.post(url, { 'content-type': 'application/json' }, '{"a":1}');
    await turn(); // The connection is free again a moment after the answer is read.
    return result;
  }

  async function whenIt(reaction: Reaction): Promise<PostResult> {
    receiver.react(reaction);
    return await post();
  }

  const answered = (status: number, text = ''): PostResult => ({ kind: 'answered', status, answer: text });
  const unanswered = (error: string): PostResult => ({ kind: 'unanswered', error });

  /** What speaks TCP only, as it is told to: `listen` gets each connection and, with each request, its number on it. */
  async function startSpeaker(
    listen: (socket: Socket, request: number) => void,
    tcp: (socket: Socket) => void = () => undefined,
  ): Promise<{ url: string; connections: () => number; requests: () => number }> {
    let connections = 0;
    let requests = 0;
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      connections += 1;
      sockets.add(socket);
      let own = 0;
      socket.on('error', () => socket.destroy());
      socket.on('data', () => {
        requests += 1;
        own += 1;
        listen(socket, own);
      });
      tcp(socket);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push({
      close: () => {
        for (const socket of sockets) socket.destroy();
        return new Promise((done) => server.close(done));
      },
    });
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    return {
      url: `http://127.0.0.1:${port}/`,
      connections: () => connections,
      requests: () => requests,
    };
  }

  const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

  it('sends the bytes and headers as they are, by POST', async () => {
    assert.deepEqual(await post(`${receiver.url}?a=%20b`), answered(200));
    const [got] = receiver.got;
    assert.deepEqual([got?.raw, got?.path], ['{"a":1}', '/hooks?a=%20b']);
    assert.equal(got?.headers['content-type'], 'application/json');
    assert.equal(got?.headers['content-length'], '7');
  });

  for (const status of [200, 201, 202, 204, 299, 300, 304, 400, 401, 404, 410, 429, 500, 503, 599]) {
    it(`tells of ${status}`, async () => {
      assert.deepEqual(await whenIt(answer(status)), answered(status));
      assert.equal(receiver.got.length, 1);
    });
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it(`does not follow ${status}`, async () => {
      const other = await startReceiver();
      closing.push(other);
      assert.deepEqual(await whenIt(answer(status, '', { location: other.url })), answered(status));
      assert.deepEqual([receiver.got.length, other.got.length], [1, 0]);
    });
  }

  for (const status of [102, 103, 199]) {
    it(`takes ${status} for no answer yet`, async () => {
      const early = `HTTP/1.1 ${status} Early\r\n\r\n`;
      const speaker = await startSpeaker((socket) => socket.write(early));
      assert.deepEqual(await post(speaker.url), unanswered('timeout'));
      const followed = await startSpeaker((socket) => socket.write(early + OK));
      assert.deepEqual(await post(followed.url), answered(200, 'ok'));
    });
  }

  it('waits for an answer that is slow, but in time', async () => {
    const slowly: Reaction = (response) =>
      setTimeout(() => response.writeHead(200).end('late'), WITHIN_MS / 2);
    assert.deepEqual(await whenIt(slowly), answered(200, 'late'));
  });

  it('gives up on headers that come drop by drop', async () => {
    const speaker = await startSpeaker((socket) => {
      const letters = [...OK];
      const dropping = setInterval(() => socket.write(letters.shift() ?? ''), WITHIN_MS / 10);
      socket.once('close', () => clearInterval(dropping));
    });
    assert.deepEqual(await post(speaker.url), unanswered('timeout'));
    assert.equal(speaker.requests(), 1);
  });

  it('gives up on silence, and lets its connection go', async () => {
    assert.deepEqual(await whenIt(hang), unanswered('timeout'));
    await eventually(() => assert.ok(receiver.got[0]?.socket.destroyed));
  });

  it('gives up 10 s after its start, name look-up included, and not before', async function () {
    this.timeout(30_000);
    const real = open();
    const timed = async (url: string): Promise<[PostResult, number]> => {
      const started = performance.now();
      return [await post(url, real), performance.now() - started];
    };
    receiver.react((response, { path }) => {
      if (path !== '/hang') setTimeout(() => response.end('just'), 9000);
    });
    const asked: string[] = [];
    const unresolved = open({
      resolve: (name) => {
        asked.push(name);
        return new Promise(() => undefined);
      },
    });
    const startedLookup = performance.now();
    const [[inTime], [tooLate, tookMs], [noName, lookupMs]] = await Promise.all([
      timed(receiver.url),
      timed(receiver.url.replace('/hooks', '/hang')),
      post('http://hooks.example/', unresolved).then((result) => [
        result,
        performance.now() - startedLookup,
      ]) as Promise<[PostResult, number]>,
    ]);
    assert.deepEqual(inTime, answered(200, 'just'));
    assert.deepEqual(tooLate, unanswered('timeout'));
    assert.deepEqual(noName, unanswered('timeout'));
    assert.deepEqual(asked, ['hooks.example']);
    for (const ms of [tookMs, lookupMs]) assert.ok(ms >= 9990 && ms < 11_500, `${ms} ms`);
  });

  it('does not wait long for a body that never ends: its headers have decided', async () => {
    const started = performance.now();
    assert.deepEqual(await whenIt(hangInBody), answered(200, 'so far'));
    const tookMs = performance.now() - started;
    assert.ok(tookMs >= 900 && tookMs < 3000, `${tookMs} ms`);
    await eventually(() => assert.ok(receiver.got[0]?.socket.destroyed));
  });

  it('reads a huge body no further than 64 KiB, and keeps 1 KiB', async () => {
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
    assert.deepEqual(await whenIt(endless), answered(200, 'x'.repeat(1024)));
    await eventually(() => assert.ok(receiver.got[0]?.socket.destroyed));
    // What the two kernels' buffers took on the way comes on top.
    assert.ok(written < 16 * 1024 * 1024, `${written} bytes`);
  });

  it('keeps what Postgres can keep of any bytes', async () => {
    const bytes = Buffer.concat([
      Buffer.from('a\0b\u0000'),
      Buffer.from([0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80]),
    ]);
    const result = await whenIt((response) => response.end(bytes));
    assert.ok(result.kind === 'answered');
    assert.equal(result.answer.slice(0, 2), 'ab');
    assert.doesNotMatch(result.answer, /\0/);
    assert.ok(result.answer.isWellFormed());
    const cut = await whenIt((response) => response.end('é'.repeat(1024)));
    assert.ok(cut.kind === 'answered' && cut.answer.isWellFormed() && cut.answer.startsWith('é'.repeat(511)));
  });

  it('keeps no secret and no signature that a receiver repeats', async () => {
    const secret = `whsec_${Buffer.alloc(32, 0xff).toString('base64')}`;
    const headers = signatureHeaders([secret, `${secret.slice(0, -2)}A=`], 'evt_1', '{}', 1_700_000_000);
    const said = JSON.stringify({ expected: secret, got: headers }).replaceAll('/', '\\/');
    for (const text of [said, encodeURIComponent(said), said.slice(0, 40)]) {
      const kept = await whenIt(answer(401, text));
      assert.ok(kept.kind === 'answered');
      assert.match(kept.answer, /whsec_…/);
      assert.doesNotMatch(kept.answer, /[0-9a-f]{64}|[\w+/\\]{30,}/i);
    }
    assert.deepEqual(
      await whenIt(answer(404, 'POST /api/v1, /v1=x: no')),
      answered(404, 'POST /api/v1, /v1=x: no'),
    );
  });

  it('takes an answer whose body breaks off, is not as long as it said, or is not HTTP any more', async () => {
    for (const rest of ['Content-Length: 9\r\n\r\nok', 'Transfer-Encoding: chunked\r\n\r\nzz\r\n']) {
      const speaker = await startSpeaker((socket) => socket.end(`HTTP/1.1 200 OK\r\n${rest}`));
      const result = await post(speaker.url);
      assert.equal(result.kind === 'answered' && result.status, 200, JSON.stringify(result));
      assert.equal(speaker.requests(), 1);
    }
  });

  it('takes headers of 60 KiB, and fails on more than it would hold', async () => {
    const big = (kib: number): Reaction => answer(200, 'ok', { 'x-big': 'x'.repeat(kib * 1024) });
    assert.deepEqual(await whenIt(big(60)), answered(200, 'ok'));
    assert.deepEqual(await whenIt(big(70)), unanswered('UND_ERR_HEADERS_OVERFLOW'));
    assert.equal(receiver.got.length, 2);
  });

  it('fails on what is not HTTP, asking once', async () => {
    const speaker = await startSpeaker((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    const result = await post(speaker.url);
    assert.equal(result.kind, 'unanswered', JSON.stringify(result));
    assert.equal(speaker.requests(), 1);
  });

  for (const [what, end] of [
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['closes', (socket: Socket) => socket.end()],
  ] as const) {
    it(`fails when the receiver ${what} a new connection, asking once`, async () => {
      const speaker = await startSpeaker((socket) => end(socket));
      assert.equal((await post(speaker.url)).kind, 'unanswered');
      assert.equal(speaker.requests(), 1);
    });

    it(`goes on with a new connection when the receiver ${what} a kept one as it is used again`, async () => {
      const speaker = await startSpeaker((socket, request) => {
        if (request === 1) socket.write(OK);
        else end(socket);
      });
      for (let tries = 0; tries < 3; tries += 1)
        assert.deepEqual(await post(speaker.url), answered(200, 'ok'));
      // The first was kept and broke on the second request; what replaced it was not kept, so the third was new.
      assert.deepEqual([speaker.requests(), speaker.connections()], [4, 3]);
    });

    it(`fails when the receiver ${what} a kept connection, and then the new one`, async () => {
      let healthy = true;
      const speaker = await startSpeaker((socket) => {
        if (healthy) socket.write(OK);
        else end(socket);
      });
      assert.deepEqual(await post(speaker.url), answered(200, 'ok'));
      healthy = false;
      assert.equal((await post(speaker.url)).kind, 'unanswered');
      assert.equal(speaker.requests(), 3);
    });

    it(`fails when the receiver ${what} a kept connection in the middle of its answer, asking once`, async () => {
      const speaker = await startSpeaker((socket, request) => {
        if (request === 1) socket.write(OK);
        else socket.write('HTTP/1.1 200 OK\r\nX-Half: ', () => setImmediate(end, socket));
      });
      assert.deepEqual(await post(speaker.url), answered(200, 'ok'));
      assert.equal((await post(speaker.url)).kind, 'unanswered');
      assert.equal(speaker.requests(), 2);
    });
  }

  it('asks once on a kept connection that falls silent', async () => {
    assert.deepEqual(await post(), answered(200));
    assert.deepEqual(await whenIt(hang), unanswered('timeout'));
    assert.equal(receiver.got.length, 2);
  });

  it('fails when nobody listens, or the connection is reset', async () => {
    assert.deepEqual(await whenIt(reset), unanswered('ECONNRESET'));
    assert.equal(receiver.got.length, 1);
    assert.deepEqual(await post('http://127.0.0.1:1/'), unanswered('ECONNREFUSED'));
  });

  it('keeps connections: one for tries that follow each other, after bodies of every kind', async () => {
    for (const body of ['', 'ok', 'x'.repeat(60_000)]) {
      assert.equal((await whenIt(answer(200, body))).kind, 'answered');
    }
    await whenIt(answer(500, 'sorry'));
    assert.equal(new Set(receiver.got.map(({ socket }) => socket)).size, 1);
  });

  it('fails on a certificate that nobody vouches for, and on a handshake that never ends', async () => {
    const tls = await startReceiver(SELF_SIGNED);
    closing.push(tls);
    assert.deepEqual(await post(tls.url), unanswered('DEPTH_ZERO_SELF_SIGNED_CERT'));
    assert.deepEqual(tls.got, []);
    const mute = await startSpeaker(() => undefined);
    assert.deepEqual(await post(mute.url.replace('http:', 'https:')), unanswered('timeout'));
    assert.equal(mute.connections(), 1);
  });

  it('fails on a plain HTTP receiver that is asked for TLS', async () => {
    const result = await post(receiver.url.replace('http:', 'https:'));
    assert.equal(result.kind, 'unanswered');
    assert.deepEqual(receiver.got, []);
  });
});
