import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createImageProxy, type ImageProxy } from '../../../api/merchant-images/image-proxy.js';
import { type LocalServer, serveLocally } from '../../../lab/world/http/listen.js';
import { eventually } from '../../../lab/world/processes/eventually.js';
import {
  IMAGE_BYTES_IN_FLIGHT,
  IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT,
  MAX_IMAGE_BYTES,
} from '../../../shared/limits/bounds.js';

const OF_ACCOUNT = IMAGE_BYTES_IN_FLIGHT_OF_ACCOUNT / MAX_IMAGE_BYTES;
const IN_ALL = IMAGE_BYTES_IN_FLIGHT / MAX_IMAGE_BYTES;

/** Images of the largest size whose bytes do not come. */
describe('the bytes of images on their way to the service', () => {
  const servers: LocalServer[] = [];
  let images: ImageProxy;
  let answers: number;
  let busy: number;
  beforeEach(async () => {
    answers = 0;
    busy = 0;
    images = createImageProxy({ allowPrivateNetworks: true });
    servers.push(...(await Promise.all([serve(), serve(), serve()])));
  });
  afterEach(async () => {
    await images.close();
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });

  async function serve(): Promise<LocalServer> {
    const server = createServer((_request, response) => {
      answers += 1;
      response.writeHead(200, { 'content-length': MAX_IMAGE_BYTES }).write('x');
    });
    return await serveLocally(server);
  }

  function ask(accountId: string, n: number): void {
    const url = `${servers[n % servers.length]?.url}/${accountId}/${n}.png`;
    void images.fetch({ url, accountId }).then((image) => {
      if (image === 'busy') busy += 1;
    });
  }

  it('are limited for an account', async () => {
    for (let n = 0; n < OF_ACCOUNT; n += 1) ask('hog', n);
    await eventually(() => assert.equal(answers, OF_ACCOUNT));
    ask('hog', OF_ACCOUNT);
    await eventually(() => assert.deepEqual([answers, busy], [OF_ACCOUNT + 1, 1]));
    ask('other', 0);
    await eventually(() => assert.deepEqual([answers, busy], [OF_ACCOUNT + 2, 1]));
  });

  it('are limited in all', async () => {
    for (let n = 0; n < IN_ALL; n += 1) {
      ask(`acct_${n}`, n);
      await eventually(() => assert.equal(answers, n + 1));
    }
    assert.equal(busy, 0);
    ask('other', IN_ALL);
    await eventually(() => assert.deepEqual([answers, busy], [IN_ALL + 1, 1]));
  });
});
