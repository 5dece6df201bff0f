import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { FreezingProxy } from '../../../lab/world/proxies/freezing-proxy.js';

/** A freezing proxy before an echo server. */
describe('a freezing proxy', () => {
  const heard: string[] = [];
  const clients: net.Socket[] = [];
  let ended = 0;
  let server: net.Server;
  let proxy: FreezingProxy;

  before(async () => {
    server = net.createServer((socket) => {
      socket.on('data', (bytes) => {
        heard.push(String(bytes));
        socket.write(bytes);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        ended += 1;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    proxy = await FreezingProxy.start({ host: '127.0.0.1', port: address.port });
  });
  afterEach(() => {
    proxy.thawAll();
    proxy.cut();
    heard.length = 0;
    ended = 0;
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await proxy.refuse();
    server.close();
  });

  async function connect(): Promise<{ socket: net.Socket; got: string[] }> {
    const socket = net.connect(proxy.port, '127.0.0.1');
    clients.push(socket);
    const got: string[] = [];
    socket.on('data', (bytes) => got.push(String(bytes)));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return { socket, got };
  }

  async function say(to: { socket: net.Socket; got: string[] }, text: string): Promise<void> {
    to.socket.write(text);
    await eventually(async () => assert.equal(to.got.join(''), text));
  }

  it('delivers to the server what was sent during the freeze, after the client has gone', async () => {
    const client = await connect();
    await say(client, 'before');
    const freeze = proxy.freeze();
    client.socket.write('during');
    await drained();
    client.socket.destroy();
    await drained();
    assert.deepEqual([heard, ended], [['before'], 0]);
    freeze.thaw();
    await eventually(async () => assert.deepEqual([heard, ended], [['before', 'during'], 1]));
  });

  it('freezes one direction: the server receives, and its answer waits', async () => {
    const client = await connect();
    const freeze = proxy.freeze({ ways: ['down'], holds: () => true });
    client.socket.write('asked');
    await eventually(async () => assert.deepEqual(heard, ['asked']));
    await drained();
    assert.deepEqual(client.got, []);
    freeze.thaw();
    await eventually(async () => assert.deepEqual(client.got, ['asked']));
  });

  it('freezes single connections, and new ones', async () => {
    const [one, other] = [await connect(), await connect()];
    await eventually(async () => assert.ok(proxy.connections >= 2));
    const draws = [true, false, true];
    const freeze = proxy.freeze({ ways: ['up', 'down'], holds: () => draws.shift() ?? false });
    await say(other, 'free');
    const late = await connect();
    for (const blocked of [one, late]) blocked.socket.write('blocked');
    await drained();
    assert.deepEqual(heard, ['free']);
    freeze.thaw();
    await eventually(async () => assert.deepEqual(heard, ['free', 'blocked', 'blocked']));
  });

  it('thaws when the last of two freezes has ended', async () => {
    const client = await connect();
    const freezes = [proxy.freeze(), proxy.freeze()];
    client.socket.write('blocked');
    freezes[0]?.thaw();
    await drained();
    assert.deepEqual(heard, []);
    freezes[1]?.thaw();
    await eventually(async () => assert.deepEqual(client.got, ['blocked']));
  });

  it('drops what it held when it is cut', async () => {
    const client = await connect();
    const freeze = proxy.freeze();
    client.socket.write('lost');
    await drained();
    proxy.cut();
    await once(client.socket, 'close');
    freeze.thaw();
    await say(await connect(), 'next');
    assert.deepEqual(heard, ['next']);
  });
});

/** Long enough for bytes in flight within one machine: that nothing arrives can only be waited for. */
async function drained(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
