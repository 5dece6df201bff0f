import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { openImageDownloader } from '../../../api/merchant-images/download-image.js';
import { type LocalServer, serveLocally } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import { AnswerTooLong } from '../../../shared/chains/check/unreadable.js';
import { fetchFromEndpoint } from '../../../shared/chains/rpc/endpoint-fetch.js';
import {
  CHAIN_ANSWER_BYTES_IN_FLIGHT,
  CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT,
  IMAGE_BYTES_IN_FLIGHT,
  MAX_CHAIN_ANSWER_BYTES,
  MAX_CHAIN_ANSWER_VALUES,
  MAX_IMAGE_BYTES,
  MAX_INTERIM_ANSWERS,
} from '../../../shared/limits/bounds.js';
import { openBudget } from '../../../shared/limits/budget.js';
import { createWebhookSender } from '../../../workers/webhook-delivery/post.js';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const LOGS = '{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[]}';
const BLOCK = '{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":[]}';

describe('an answer within its bounds', () => {
  const servers: LocalServer[] = [];
  let connections = 0;
  let react: (response: ServerResponse, path: string) => void = () => undefined;

  async function serve(): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().once('end', () => react(response, request.url ?? ''));
    });
    server.on('connection', () => {
      connections += 1;
    });
    const served = await serveLocally(server);
    servers.push(served);
    return served.url;
  }
  const post = (url: string, body: string, signal?: AbortSignal): Promise<Response> =>
    fetchFromEndpoint(url, { method: 'POST', body, ...(signal && { signal }) });

  beforeEach(() => {
    connections = 0;
  });
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  it('is measured anew for each request on a kept connection', async () => {
    react = (response) => {
      for (let sent = 0; sent < MAX_INTERIM_ANSWERS; sent += 1) response.writeProcessing();
      response.writeHead(200, { 'x-big': 'x'.repeat(50_000) });
      response.end('x'.repeat(60_000));
    };
    const url = await serve();
    const sender = createWebhookSender({ allowPrivateNetworks: true });
    for (let sent = 0; sent < 20; sent += 1) {
      const result = await sender.post(url, {}, Buffer.from('{}'));
      assert.equal(result.kind === 'answered' && result.status, 200, JSON.stringify(result).slice(0, 99));
      await new Promise(setImmediate);
    }
    assert.equal(connections, 1);
    await sender.close();
  });

  it('is read whole when it is a large image in small pieces', async () => {
    const image = Buffer.concat([PNG, Buffer.alloc(MAX_IMAGE_BYTES - PNG.length, 7)]);
    react = (response) => {
      for (let at = 0; at < image.length; at += 1024) response.write(image.subarray(at, at + 1024));
      response.end();
    };
    const budget = openBudget({ total: IMAGE_BYTES_IN_FLIGHT });
    const images = openImageDownloader({ allowPrivateNetworks: true }, budget);
    const found = await images.download(`${await serve()}/a.png`, 'acct_1');
    assert.ok(found?.bytes.equals(image));
    await images.close();
  });

  it('is read whole of a chain with as many bytes and as many values as one may have', async () => {
    let said = '';
    react = (response) => response.end(said);
    const url = await serve();
    const string = (length: number): string => `"\\"${','.repeat(length - 4)}"`;
    const list = (values: number): string => `[${'0,'.repeat(values - 1)}0]`;
    for (const [most, beyond] of [
      [string(MAX_CHAIN_ANSWER_BYTES), string(MAX_CHAIN_ANSWER_BYTES + 1)],
      [list(MAX_CHAIN_ANSWER_VALUES), list(MAX_CHAIN_ANSWER_VALUES + 1)],
      ['['.repeat(MAX_CHAIN_ANSWER_VALUES), '['.repeat(MAX_CHAIN_ANSWER_VALUES + 1)],
    ] as const) {
      said = most;
      assert.equal(await (await post(url, LOGS)).text(), most);
      said = beyond;
      await assert.rejects(post(url, LOGS), AnswerTooLong);
    }
  });

  it('comes from where an endpoint redirects a request as it is, and from nowhere else', async () => {
    react = (response, path) => {
      const status = Number(path.slice(1));
      if (status > 0) response.writeHead(status, { location: '/' }).end('{}');
      else response.end('"moved"');
    };
    const url = await serve();
    for (const status of [307, 308])
      assert.equal(await (await post(`${url}/${status}`, BLOCK)).text(), '"moved"');
    for (const status of [301, 302, 303])
      assert.equal((await post(`${url}/${status}`, BLOCK)).status, status);
    const keyed = { method: 'POST', body: BLOCK, headers: { authorization: 'Basic a2V5' } };
    const other = await serve();
    const got: (string | undefined)[] = [];
    react = (response, path) => {
      got.push(response.req.headers.authorization);
      const location = { '/away': other, '/near': '/' }[path];
      if (location === undefined) response.end('{}');
      else response.writeHead(308, { location }).end();
    };
    for (const path of ['/near', '/away']) await fetchFromEndpoint(`${url}${path}`, keyed);
    assert.deepEqual(got, ['Basic a2V5', 'Basic a2V5', 'Basic a2V5', undefined]);
    react = (response) => response.writeHead(307, { location: '/' }).end();
    assert.equal((await post(url, BLOCK)).status, 307);
  });

  for (const [who, bytes, isOne] of [
    ['all endpoints', CHAIN_ANSWER_BYTES_IN_FLIGHT, false],
    ['one endpoint', CHAIN_ANSWER_BYTES_IN_FLIGHT_OF_ENDPOINT, true],
  ] as const)
    it(`waits for no other of a chain, but large ones of ${who} are bounded together`, async () => {
      const held = MAX_CHAIN_ANSWER_BYTES - 1024;
      react = (response, path) => {
        if (path === '/small') response.end('{}');
        else response.write('x'.repeat(held));
      };
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      const fitting = Math.floor(bytes / held);
      const first = await serve();
      const more = Array.from({ length: fitting + 1 }, () => (isOne ? first : serve()));
      const urls = [first, ...(await Promise.all(more))];
      let refused = 0;
      const asked = urls.map((url) =>
        post(url, LOGS, stop.signal).catch((error: unknown) => {
          if (/other answers take all the memory/.test(String(error))) refused += 1;
        }),
      );
      await eventually(() => assert.ok(refused >= urls.length - fitting, `${refused} refused`));
      for (const url of urls) assert.equal(await (await post(`${url}/small`, BLOCK)).text(), '{}');
      stop.abort(new Error('enough'));
      await Promise.all(asked);
      react = (response) => response.end('x'.repeat(held));
      assert.equal((await (await post(first, LOGS)).text()).length, held, 'the memory is given back');
    });
});
