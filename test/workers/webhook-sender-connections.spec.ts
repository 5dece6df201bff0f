import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { SELF_SIGNED } from '../../lab/world/processes/self-signed.js';
import { answer, hang, reset, startReceiver } from '../../lab/world/receiver/receiver.js';
import { forEachTest } from '../support/hooks.js';
import { answered, OK, openWebhookTries, unanswered } from '../support/webhook-tries.js';

describe('one try at a webhook receiver', () => {
  const tries = forEachTest(openWebhookTries);

  for (const [what, end] of [
    ['resets', (socket: Socket) => socket.resetAndDestroy()],
    ['closes', (socket: Socket) => socket.end()],
  ] as const) {
    it(`fails when the receiver ${what} a new connection, after one request`, async () => {
      const speaker = await tries.startSpeaker((socket) => end(socket));
      assert.equal((await tries.post(speaker.url)).kind, 'unanswered');
      assert.equal(speaker.requests(), 1);
    });

    it(`repeats the request on a new connection when the receiver ${what} a kept one as it is used again`, async () => {
      const speaker = await tries.startSpeaker((socket, request) => {
        if (request === 1) socket.write(OK);
        else end(socket);
      });
      for (let sent = 0; sent < 3; sent += 1)
        assert.deepEqual(await tries.post(speaker.url), answered(200, 'ok'));
      // The first connection was kept and broke on the second request; its replacement was not kept, so the third
      // one was new.
      assert.deepEqual([speaker.requests(), speaker.connections()], [4, 3]);
    });

    it(`fails when the receiver ${what} a kept connection and then the new one`, async () => {
      let healthy = true;
      const speaker = await tries.startSpeaker((socket) => {
        if (healthy) socket.write(OK);
        else end(socket);
      });
      assert.deepEqual(await tries.post(speaker.url), answered(200, 'ok'));
      healthy = false;
      assert.equal((await tries.post(speaker.url)).kind, 'unanswered');
      assert.equal(speaker.requests(), 3);
    });

    it(`fails when the receiver ${what} a kept connection during its answer, without repeating the request`, async () => {
      const speaker = await tries.startSpeaker((socket, request) => {
        if (request === 1) socket.write(OK);
        else socket.write('HTTP/1.1 200 OK\r\nX-Half: ', () => setImmediate(end, socket));
      });
      assert.deepEqual(await tries.post(speaker.url), answered(200, 'ok'));
      assert.equal((await tries.post(speaker.url)).kind, 'unanswered');
      assert.equal(speaker.requests(), 2);
    });
  }

  it('does not repeat the request on a kept connection that times out', async () => {
    assert.deepEqual(await tries.post(), answered(200));
    assert.deepEqual(await tries.whenIt(hang), unanswered('timeout'));
    assert.equal(tries.receiver.got.length, 2);
  });

  it('fails when the connection is refused or reset', async () => {
    assert.deepEqual(await tries.whenIt(reset), unanswered('ECONNRESET'));
    assert.equal(tries.receiver.got.length, 1);
    assert.deepEqual(await tries.post('http://127.0.0.1:1/'), unanswered('ECONNREFUSED'));
  });

  it('keeps its connection for the next tries, after bodies of any size', async () => {
    for (const body of ['', 'ok', 'x'.repeat(60_000)]) {
      assert.equal((await tries.whenIt(answer(200, body))).kind, 'answered');
    }
    await tries.whenIt(answer(500, 'sorry'));
    assert.equal(new Set(tries.receiver.got.map(({ socket }) => socket)).size, 1);
  });

  it('fails on a self-signed certificate, and on a handshake that never ends', async () => {
    const tls = await startReceiver(SELF_SIGNED);
    tries.closing.push(tls);
    assert.deepEqual(await tries.post(tls.url), unanswered('DEPTH_ZERO_SELF_SIGNED_CERT'));
    assert.deepEqual(tls.got, []);
    const mute = await tries.startSpeaker(() => undefined);
    assert.deepEqual(await tries.post(mute.url.replace('http:', 'https:')), unanswered('timeout'));
    assert.equal(mute.connections(), 1);
  });

  it('fails when a plain HTTP receiver has an https URL', async () => {
    const result = await tries.post(tries.receiver.url.replace('http:', 'https:'));
    assert.equal(result.kind, 'unanswered');
    assert.deepEqual(tries.receiver.got, []);
  });
});
