import assert from 'node:assert/strict';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { onClose } from '../../../api/http/on-close.js';
import { eventually } from '../../../lab/world/processes/eventually.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

describe('onClose of an answer is called', () => {
  let server: Server;
  let answers: ServerResponse[];
  let over: number;
  before(async () => {
    server = createServer((_req, res) => {
      answers.push(res);
      onClose(res, () => {
        over += 1;
      });
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  });
  beforeEach(() => {
    answers = [];
    over = 0;
  });
  after(() => new Promise((closed) => server.close(closed)));

  async function ask(times: number): Promise<ReturnType<typeof connect>> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined).resume();
    socket.write(REQUEST.repeat(times));
    await eventually(() => assert.equal(answers.length, times));
    return socket;
  }

  it('when it is sent, once', async () => {
    const socket = await ask(2);
    answers[0]?.end();
    await eventually(() => assert.equal(over, 1));
    answers[1]?.end();
    await eventually(() => assert.equal(over, 2));
    socket.destroy();
    await new Promise((done) => socket.once('close', done));
    assert.equal(over, 2);
  });

  it('when its connection breaks while it is queued behind others', async () => {
    const socket = await ask(5);
    socket.resetAndDestroy();
    await eventually(() => assert.equal(over, 5));
  });

  it('when the answer was closed before', async () => {
    const socket = await ask(1);
    socket.destroy();
    await eventually(() => assert.equal(over, 1));
    const [res] = answers;
    assert.ok(res);
    onClose(res, () => {
      over += 1;
    });
    assert.equal(over, 2);
  });
});
