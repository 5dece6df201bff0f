import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import request from 'supertest';
import { relay } from '../../deploy/docker/relay.mjs';
import { closeServer, findFreePort, listen } from '../../lab/world/http/listen.js';
import { isLocalRequest } from '../../lab/world/http/local-requests.js';

const LOOPBACK = '127.0.0.1';
const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const relayTo = (port: number): Promise<Server> =>
  relay({ from: { host: LOOPBACK, port: 0 }, to: { host: LOOPBACK, port } });

/** Lets other containers reach a sandbox that answers only its own machine. */
describe('the relay of the sandbox', () => {
  let target: Server;
  let front: Server;
  before(async () => {
    target = createServer(async (incoming, outgoing) => {
      const { method, url } = incoming;
      const body = method === 'POST' ? await json(incoming) : null;
      const echo = { method, url, body, isLocal: isLocalRequest(incoming) };
      outgoing
        .writeHead(201, { 'content-type': 'application/json', 'x-echo': 'yes' })
        .end(JSON.stringify(echo));
    });
    front = await relayTo(await listen(target, 0));
  });
  after(async () => {
    await closeServer(front);
    await closeServer(target);
  });

  const ask = (server: Server) => request(`http://${LOOPBACK}:${portOf(server)}`);

  it('forwards requests for another host name, which the sandbox itself refuses', async () => {
    const direct = await ask(target).get('/supported').set('Host', 'sandbox:4022');
    assert.equal(direct.body.isLocal, false);
    const { status, headers, body } = await ask(front)
      .post('/settle?x=1')
      .set('Host', 'sandbox:4022')
      .send({ amount: 1 });
    assert.deepEqual([status, headers['x-echo']], [201, 'yes']);
    assert.deepEqual(body, { method: 'POST', url: '/settle?x=1', body: { amount: 1 }, isLocal: true });
  });

  it('keeps the origin of foreign pages', async () => {
    const { body } = await ask(front).get('/').set('Origin', 'https://evil.example');
    assert.equal(body.isLocal, false);
  });

  it('reports when the sandbox does not answer', async () => {
    const lonely = await relayTo(await findFreePort());
    assert.equal((await ask(lonely).get('/')).status, 502);
    await closeServer(lonely);
  });
});
