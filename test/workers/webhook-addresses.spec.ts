import assert from 'node:assert/strict';
import { startReceiver } from '../../lab/world/receiver/receiver.js';
import {
  createWebhookSender,
  type PostResult,
  type WebhookSender,
} from '../../workers/webhook-delivery/post.js';
import { forAllTests } from '../support/hooks.js';

const WITHIN_MS = 800;

describe('the webhook sender with private networks refused', () => {
  const receiver = forAllTests(startReceiver);
  let port: string;
  let sender: WebhookSender;
  let answers: string[][];
  let asked: string[];
  before(async () => {
    ({ port } = new URL(receiver.url));
  });
  beforeEach(() => {
    asked = [];
    sender = createWebhookSender({
      allowPrivateNetworks: false,
      headersWithinMs: WITHIN_MS,
      resolve: async (name) => {
        asked.push(name);
        return answers.shift() ?? [];
      },
    });
  });
  afterEach(async () => {
    await sender.close();
    assert.deepEqual([receiver.connections(), receiver.got.length], [0, 0]);
  });

  const PUBLIC = '93.184.216.34';
  const refused: PostResult = { kind: 'unanswered', error: 'ENOTPUBLIC' };
  const post = (host: string, scheme = 'http'): Promise<PostResult> =>
    sender.post(`${scheme}://${host}:${port}/hooks`, {}, Buffer.from('{}'));

  for (const host of [
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '0.0.0.0',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    'localhost',
    'localhost.',
    'a.localhost',
    '１２７.0.0.1',
    '127。0。0。1',
  ]) {
    it(`does not connect to ${host}, over http or https, and makes no DNS query`, async () => {
      answers = [[PUBLIC], [PUBLIC]];
      assert.deepEqual(await post(host), refused);
      assert.deepEqual(await post(host, 'https'), refused);
      assert.deepEqual(asked, []);
    });
  }

  for (const [what, addresses] of Object.entries({
    loopback: ['127.0.0.1'],
    'IPv6 loopback': ['::1'],
    'v4-mapped loopback': ['::ffff:127.0.0.1'],
    'NAT64 of loopback': ['64:ff9b::7f00:1'],
    '6to4 of loopback': ['2002:7f00:1::'],
    'this host': ['0.0.0.0'],
    'a public address and loopback': [PUBLIC, '127.0.0.1'],
    'loopback and a public address': ['127.0.0.1', PUBLIC],
    'public IPv4 and IPv6 loopback': [PUBLIC, '::1'],
    'the metadata service': ['169.254.169.254'],
    'an alias instead of an address': ['localhost'],
  })) {
    it(`does not connect to a name that now resolves to ${what}`, async () => {
      answers = [addresses, addresses];
      assert.deepEqual(await post('rebind.example'), refused);
      assert.deepEqual(await post('rebind.example', 'https'), refused);
      assert.deepEqual(asked, ['rebind.example', 'rebind.example']);
    });
  }

  it('fails for a name without addresses', async () => {
    answers = [[]];
    assert.deepEqual(await post('gone.example'), { kind: 'unanswered', error: 'ENOTFOUND' });
  });

  it('connects to the address that it has checked, with one DNS query', async () => {
    // A second query would give a private address; the first gives a public address that cannot be reached from here.
    answers = [['203.0.113.1'], [PUBLIC], ['127.0.0.1']];
    assert.deepEqual(await post('rebind.example'), refused);
    const result = await post('rebind.example');
    assert.equal(result.kind, 'unanswered');
    assert.deepEqual(asked, ['rebind.example', 'rebind.example']);
    assert.deepEqual(await post('rebind.example'), refused);
  });
});
