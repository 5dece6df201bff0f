import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { connect, type LookupFunction } from 'node:net';
import { type NameServer, startNameServer } from '../../../lab/world/processes/name-server.js';
import {
  assertPublicHost,
  NotPublicAddressError,
  publicLookup,
  type Resolve,
  resolveByNameServers,
  resolveBySystem,
} from '../../../shared/values/public-address.js';
import { forAllTests } from '../../support/hooks.js';
import { HOSTILE_ANSWERS, PUBLIC_IPV4, PUBLIC_IPV6 } from '../../support/hostile-addresses.js';
import { answering, LIVE_MODE, reasonOf } from '../../support/webhook-urls.js';

describe('looking up the host of a connection', () => {
  const strict = (...addresses: string[]): LookupFunction => publicLookup(false, answering(...addresses));

  it('returns all public answers in their order', async () => {
    assert.deepEqual(await lookUp(strict(PUBLIC_IPV6, PUBLIC_IPV4), { all: true }), [
      { address: PUBLIC_IPV6, family: 6 },
      { address: PUBLIC_IPV4, family: 4 },
    ]);
  });

  it('returns the first public answer when one is requested', async () => {
    assert.deepEqual(await lookUp(strict(PUBLIC_IPV6, PUBLIC_IPV4), {}), [
      { address: PUBLIC_IPV6, family: 6 },
    ]);
  });

  for (const [family, address] of [
    [4, PUBLIC_IPV4],
    ['IPv4', PUBLIC_IPV4],
    [6, PUBLIC_IPV6],
    ['IPv6', PUBLIC_IPV6],
  ] as const) {
    it(`returns only answers of the requested family (${family})`, async () => {
      const answers = await lookUp(strict(PUBLIC_IPV4, PUBLIC_IPV6), { all: true, family });
      assert.deepEqual(
        answers.map((answer) => answer.address),
        [address],
      );
    });
  }

  for (const [title, addresses] of Object.entries(HOSTILE_ANSWERS)) {
    it(`fails on ${title}`, async () => {
      await assert.rejects(lookUp(strict(...addresses), { all: true }), isNotPublic);
      await assert.rejects(lookUp(strict(...addresses), {}), isNotPublic);
    });
  }

  it('fails on a private answer of the family that is not requested', async () => {
    await assert.rejects(lookUp(strict(PUBLIC_IPV4, '::1'), { family: 4 }), isNotPublic);
  });

  it('fails as an unknown host when there is no answer, or none of the family', async () => {
    await assert.rejects(lookUp(strict(), { all: true }), { code: 'ENOTFOUND' });
    await assert.rejects(lookUp(strict(PUBLIC_IPV4), { family: 6 }), { code: 'ENOTFOUND' });
  });

  it("passes the resolver's own failure on", async () => {
    const failure = Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
    await assert.rejects(
      lookUp(
        publicLookup(false, () => Promise.reject(failure)),
        {},
      ),
      failure,
    );
  });

  it('returns private answers when private networks are allowed', async () => {
    const answers = await lookUp(publicLookup(true, answering('127.0.0.1')), { all: true });
    assert.deepEqual(answers, [{ address: '127.0.0.1', family: 4 }]);
  });

  it('refuses a name that was public when its URL was judged and is private now', async () => {
    const answers = [[PUBLIC_IPV4], ['127.0.0.1']];
    const resolve: Resolve = async () => answers.shift() ?? [];
    assert.equal(await reasonOf('https://rebind.example/', { ...LIVE_MODE, resolve }), undefined);
    await assert.rejects(lookUp(publicLookup(false, resolve), { all: true }), isNotPublic);
  });

  it('ends a socket before it connects', async () => {
    const socket = connect({ host: 'rebind.example', port: 9, lookup: strict('127.0.0.1') });
    const error = await new Promise((fail) => socket.once('error', fail));
    assert.ok(isNotPublic(error));
  });
});

describe('a host that is an IP address, for which sockets make no lookup,', () => {
  for (const url of [
    'http://127.0.0.1/',
    'http://[::ffff:7f00:1]/',
    'http://2130706433/',
    'http://localhost/',
  ]) {
    it(`is refused right before connecting: ${url}`, () => {
      assert.throws(() => assertPublicHost(new URL(url)), isNotPublic);
    });
  }

  for (const url of [`http://${PUBLIC_IPV4}/`, `http://[${PUBLIC_IPV6}]/`, 'http://example.com/']) {
    it(`passes when it is public, as names do: ${url}`, () => {
      assert.doesNotThrow(() => assertPublicHost(new URL(url)));
    });
  }
});

describe('resolving a host', () => {
  it("uses the system's resolver, which knows local names, where private networks are allowed", async () => {
    assert.deepEqual(await resolveBySystem('127.0.0.1'), ['127.0.0.1']);
    assert.deepEqual(await resolveBySystem('::1'), ['::1']);
  });

  describe('by name servers', () => {
    const names: NameServer['names'] = {
      'both.example': { 1: ['93.184.216.34', '93.184.216.35'], 28: ['2606:2800:220:1::1'] },
      'v4.example': { 1: ['93.184.216.34'], 28: [] },
      'v6.example': { 1: [], 28: ['2606:2800:220:1::1'] },
      'private.example': { 1: ['10.0.0.1'], 28: [] },
      'silent.example': 'silence',
    };
    const server = forAllTests(() => startNameServer(names));
    let resolve: Resolve;
    before(async () => {
      resolve = resolveByNameServers([server.address]);
    });

    it('returns the addresses of both families, IPv4 first', async () => {
      assert.deepEqual(await resolve('both.example'), [
        '93.184.216.34',
        '93.184.216.35',
        '2606:2800:220:1::1',
      ]);
      assert.deepEqual(await resolve('v4.example'), ['93.184.216.34']);
      assert.deepEqual(await resolve('v6.example'), ['2606:2800:220:1::1']);
    });

    it('fails on a name that does not exist', async () => {
      await assert.rejects(resolve('gone.example'), { code: 'ENOTFOUND' });
    });

    it("returns a private name's addresses, for the caller to judge", async () => {
      await assert.rejects(
        lookUp(publicLookup(false, resolve), { all: true }, 'private.example'),
        isNotPublic,
      );
    });

    it('answers other names while the servers of one are silent', async () => {
      let silent = 20;
      const silence = Array.from({ length: silent }, () =>
        resolve('silent.example').catch(() => {
          silent -= 1;
        }),
      );
      assert.deepEqual(await resolve('v4.example'), ['93.184.216.34']);
      assert.equal(silent, 20);
      server.names['silent.example'] = { 1: [], 28: [] };
      await Promise.all(silence);
    });
  });
});

function lookUp(
  lookup: LookupFunction,
  options: Parameters<LookupFunction>[1],
  hostname = 'hooks.example',
): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    lookup(hostname, options, (error, address, family) => {
      if (error) fail(error);
      else done(typeof address === 'string' ? [{ address, family: family ?? 0 }] : address);
    });
  });
}

function isNotPublic(error: unknown): boolean {
  return error instanceof NotPublicAddressError && error.code === 'ENOTPUBLIC';
}
