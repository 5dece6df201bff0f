import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { eventually } from '../../../lab/world/processes/eventually.js';
import type { CutPoint } from '../../../lab/world/proxy/faults.js';
import { TcpProxy } from '../../../lab/world/proxy/tcp-proxy.js';
import { withResolvers } from '../../../shared/process/with-resolvers.js';

/** A proxy before an echo server. */
describe('the TCP proxy', () => {
  const heard: string[] = [];
  const clients: net.Socket[] = [];
  /** The open connections of the server. */
  let open = 0;
  let server: net.Server;
  let target: string;
  let proxy: TcpProxy;

  before(async () => {
    server = net.createServer((socket) => {
      open += 1;
      socket.on('data', (bytes) => {
        heard.push(String(bytes));
        socket.write(bytes);
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open -= 1;
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(typeof address === 'object' && address !== null);
    target = `http://127.0.0.1:${address.port}`;
    proxy = await TcpProxy.start(target);
  });
  afterEach(async () => {
    proxy.thaw();
    proxy.delay(0);
    proxy.cut();
    await eventually(() => assert.equal(open, 0));
    heard.length = 0;
  });
  after(async () => {
    for (const client of clients) client.destroy();
    await proxy.refuse();
    server.close();
  });

  interface Client {
    socket: net.Socket;
    got: string[];
  }

  async function connect(): Promise<Client> {
    const socket = net.connect(proxy.port, '127.0.0.1');
    clients.push(socket);
    const got: string[] = [];
    socket.on('data', (bytes) => got.push(String(bytes)));
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    return { socket, got };
  }

  async function say(to: Client, text: string): Promise<void> {
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
    assert.deepEqual([heard, open], [['before'], 1]);
    freeze.thaw();
    await eventually(async () => assert.deepEqual([heard, open], [['before', 'during'], 0]));
  });

  it('freezes one direction: the server receives, and its answer waits', async () => {
    const client = await connect();
    const freeze = proxy.freeze({ ways: ['down'] });
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
    const freeze = proxy.freeze({ holds: () => draws.shift() ?? false });
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

  it('freezes from the first request on that matches', async () => {
    const client = await connect();
    const freeze = proxy.freeze({ ways: ['up'], from: /COMMIT/ });
    await say(client, 'BEGIN;');
    client.socket.write('COMMIT;');
    await drained();
    assert.deepEqual(heard, ['BEGIN;']);
    freeze.thaw();
    await eventually(() => assert.deepEqual(heard, ['BEGIN;', 'COMMIT;']));
  });

  it('refuses connections until it accepts them again', async () => {
    const client = await connect();
    await say(client, 'before');
    const closed = once(client.socket, 'close');
    await proxy.refuse();
    await closed;
    await eventually(() => assert.equal(proxy.connections, 0));
    await assert.rejects(connect(), /ECONNREFUSED/);
    await proxy.accept();
    await say(await connect(), 'after');
  });

  it('leads new connections to another server, and keeps those that are open', async () => {
    const other = net.createServer((socket) => socket.end('other'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const address = other.address();
    assert.ok(typeof address === 'object' && address !== null);
    const former = await connect();
    await say(former, 'a');
    proxy.leadNewTo(`http://127.0.0.1:${address.port}`);
    const { got } = await connect();
    await eventually(() => assert.deepEqual(got, ['other']));
    former.socket.write('b');
    await eventually(() => assert.equal(former.got.join(''), 'ab'));
    proxy.leadTo(target);
    other.close();
  });

  it('swallows answers and returns them, until it accepts; then the connection is cut', async () => {
    const [client, other] = [await connect(), await connect()];
    const swallow = proxy.swallow({ ways: ['down'] });
    client.socket.write('asked');
    await eventually(() => assert.deepEqual(swallow.dropped(), ['asked']));
    other.socket.write('too');
    await eventually(() => assert.deepEqual(swallow.dropped(), ['asked', 'too']));
    assert.deepEqual([heard, client.got, proxy.connections], [['asked', 'too'], [], 2]);
    const closed = once(client.socket, 'close');
    await proxy.accept();
    await closed;
    await say(await connect(), 'next');
  });

  it('delays each way, connection ends included', async () => {
    const client = await connect();
    proxy.delay(100);
    const began = performance.now();
    await say(client, 'late');
    // Timers are exact to a millisecond.
    assert.ok(performance.now() - began >= 198);
    client.socket.end('last');
    await eventually(() => assert.deepEqual([heard, open], [['late', 'last'], 0]));
    await eventually(() => assert.equal(client.got.join(''), 'latelast'));
  });

  const WHOLE = 'GET key: abc\n';
  const POINTS: Record<string, { point: CutPoint; hears: string; gets?: string }> = {
    'after four bytes of it': { point: { requestBytes: 4 }, hears: 'GET ' },
    'a byte before its end': { point: { requestBytes: -1 }, hears: 'GET key: abc' },
    'before its answer': { point: { answerBytes: 0 }, hears: WHOLE },
    'after four bytes of its answer': { point: { answerBytes: 4 }, hears: WHOLE, gets: 'GET ' },
    "three bytes before its answer's end": { point: { answerBytes: -3 }, hears: WHOLE, gets: 'GET key: a' },
  };
  for (const [where, { point, hears, gets = '' }] of Object.entries(POINTS)) {
    it(`cuts the next request that matches ${where}, and no other`, async () => {
      const cut = proxy.cutNext(/key: (\w+)/, point);
      assert.throws(() => cut.matched(), /no request matched/);
      const [client, other] = [await connect(), await connect()];
      await say(other, 'no match');
      heard.length = 0;
      client.socket.write(WHOLE);
      await once(client.socket, 'close');
      await eventually(() => assert.deepEqual([heard.join(''), client.got.join('')], [hears, gets]));
      await say(await connect(), 'GET key: def');
      assert.equal(cut.matched(), 'abc');
    });
  }

  it('cuts the next request that matches when a promise resolves', async () => {
    const { promise: when, resolve } = withResolvers();
    proxy.cutNext(/key/, { when });
    const client = await connect();
    await say(client, WHOLE);
    resolve();
    await once(client.socket, 'close');
  });

  it('accepts TLS', async () => {
    const front = await TcpProxy.start(target, { tls: true });
    const socket = tls.connect({ port: front.port, host: '127.0.0.1', rejectUnauthorized: false });
    clients.push(socket);
    socket.write('secret');
    const [answer] = await once(socket, 'data');
    assert.equal(String(answer), 'secret');
    await front.refuse();
  });
});

/** Long enough for bytes in flight within one machine: that nothing arrives can only be waited for. */
async function drained(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
