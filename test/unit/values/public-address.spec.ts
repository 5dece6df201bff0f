import assert from 'node:assert/strict';
import { withResolvers } from '../../../shared/process/with-resolvers.js';
import { isPublicAddress, judgeWebhookUrl, type Resolve } from '../../../shared/values/public-address.js';
import {
  GOOD_ADDRESSES,
  GOOD_URLS,
  HOSTILE_ADDRESSES,
  HOSTILE_ANSWERS,
  HOSTILE_URLS,
  PUBLIC_IPV4,
} from '../../support/hostile-addresses.js';
import { answering, LIVE_MODE, reasonOf, TEST_MODE } from '../../support/webhook-urls.js';

const neverAsked: Resolve = (hostname) => assert.fail(`DNS was asked about ${hostname}`);

describe('a public address', () => {
  for (const [title, address] of Object.entries(HOSTILE_ADDRESSES)) {
    it(`is not ${title} (${address})`, () => {
      assert.equal(isPublicAddress(address), false);
    });
  }

  for (const [title, address] of Object.entries(GOOD_ADDRESSES)) {
    it(`is ${title} (${address})`, () => {
      assert.equal(isPublicAddress(address), true);
    });
  }
});

describe('judging a webhook URL', () => {
  describe('refuses, without a DNS query,', () => {
    for (const [title, [url, reason]] of Object.entries(HOSTILE_URLS)) {
      it(`${title}: ${JSON.stringify(url)} is ${reason}`, async () => {
        assert.equal(await reasonOf(url, { ...TEST_MODE, resolve: neverAsked }), reason);
      });
    }
  });

  describe('refuses a name that resolves to', () => {
    for (const [title, addresses] of Object.entries(HOSTILE_ANSWERS)) {
      it(title, async () => {
        const rules = { ...TEST_MODE, resolve: answering(...addresses) };
        assert.equal(await reasonOf('http://rebind.example/', rules), 'not_public');
      });
    }
  });

  describe('accepts', () => {
    for (const [title, [url, href]] of Object.entries(GOOD_URLS)) {
      it(`${title}: ${url}`, async () => {
        const verdict = await judgeWebhookUrl(url, LIVE_MODE);
        assert.equal(verdict.ok && verdict.url.href, href);
      });
    }

    it('a name that does not resolve', async () => {
      const resolve: Resolve = () => Promise.reject(new Error('getaddrinfo ENOTFOUND'));
      assert.equal(await reasonOf('https://later.example/', { ...LIVE_MODE, resolve }), undefined);
    });

    it('a name without addresses', async () => {
      assert.equal(
        await reasonOf('https://later.example/', { ...LIVE_MODE, resolve: answering() }),
        undefined,
      );
    });

    it('a name that does not resolve in time, whatever the later answer', async () => {
      const { resolve, answer } = heldBack();
      assert.equal(
        await reasonOf('https://slow.example/', { ...LIVE_MODE, resolve, timeoutMs: 1 }),
        undefined,
      );
      answer(['127.0.0.1']);
    });
  });

  it('queries DNS once, for the same name as a connection', async () => {
    const asked: string[] = [];
    const resolve: Resolve = async (hostname) => {
      asked.push(hostname);
      return [PUBLIC_IPV4];
    };
    await judgeWebhookUrl('https://Hooks.Example.COM.:8443/a', { ...LIVE_MODE, resolve });
    assert.deepEqual(asked, ['hooks.example.com.']);
  });

  it('leaves no timer behind when DNS answers in time', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    // Mocha starts its own timer once this function has returned its promise.
    await Promise.resolve();
    const before = timers();
    await judgeWebhookUrl('https://example.com/', LIVE_MODE);
    assert.equal(timers(), before);
  });

  it('requires https in live mode and accepts http in test mode', async () => {
    assert.equal(await reasonOf('http://example.com/', LIVE_MODE), 'wrong_scheme');
    assert.equal(await reasonOf('https://example.com/', LIVE_MODE), undefined);
    assert.equal(await reasonOf('http://example.com/', TEST_MODE), undefined);
  });

  describe('when private networks are allowed', () => {
    const rules = { ...TEST_MODE, allowPrivateNetworks: true, resolve: neverAsked };

    for (const url of [
      'http://127.0.0.1:4242/',
      'http://localhost:4242/',
      'http://[::1]/',
      'http://intranet/',
    ]) {
      it(`accepts ${url} without a DNS query`, async () => {
        assert.equal(await reasonOf(url, rules), undefined);
      });
    }

    it('still refuses wrong schemes, credentials and texts that are no URL', async () => {
      assert.equal(await reasonOf('http://127.0.0.1/', { ...rules, livemode: true }), 'wrong_scheme');
      assert.equal(await reasonOf('ftp://127.0.0.1/', rules), 'wrong_scheme');
      assert.equal(await reasonOf('http://user:secret@127.0.0.1/', rules), 'credentials');
      assert.equal(await reasonOf('http://127.0.0.1/\t', rules), 'not_a_url');
    });
  });
});

function heldBack(): { resolve: Resolve; answer: (addresses: string[]) => void } {
  const { promise: addresses, resolve: answer } = withResolvers<string[]>();
  return { resolve: () => addresses, answer };
}
