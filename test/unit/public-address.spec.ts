import assert from 'node:assert/strict';
import type { LookupAddress } from 'node:dns';
import { connect, type LookupFunction } from 'node:net';
import {
  assertPublicHost,
  isPublicAddress,
  judgeWebhookUrl,
  NotPublicAddressError,
  publicLookup,
  type Resolve,
  resolveAsTheSystemDoes,
  resolveByNameServers,
  type UrlVerdict,
} from '../../shared/public-address.js';
import { type NameServer, startNameServer } from '../support/name-server.js';

const PUBLIC_IPV4 = '93.184.215.14';
const PUBLIC_IPV6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

const HOSTILE_ADDRESSES: Record<string, string> = {
  'this host': '0.0.0.0',
  'this network': '0.1.2.3',
  loopback: '127.0.0.1',
  'the far end of loopback': '127.255.255.254',
  'private 10/8': '10.0.0.1',
  'the first of private 172.16/12': '172.16.0.1',
  'the last of private 172.16/12': '172.31.255.255',
  'private 192.168/16': '192.168.1.1',
  'link-local': '169.254.1.1',
  'the metadata service of most clouds': '169.254.169.254',
  'the metadata service of Alibaba Cloud, in CGNAT': '100.100.100.200',
  'the metadata service of Oracle Cloud': '192.0.0.192',
  "Azure's platform services": '168.63.129.16',
  'carrier-grade NAT': '100.64.0.1',
  'the end of carrier-grade NAT': '100.127.255.255',
  'IETF protocol assignments': '192.0.0.8',
  'documentation 1': '192.0.2.1',
  'documentation 2': '198.51.100.7',
  'documentation 3': '203.0.113.9',
  benchmarking: '198.18.0.1',
  'the end of benchmarking': '198.19.255.255',
  '6to4 relays': '192.88.99.1',
  AS112: '192.31.196.1',
  'automatic multicast tunnelling': '192.52.193.1',
  multicast: '224.0.0.1',
  'the end of multicast': '239.255.255.255',
  'reserved 240/4': '240.0.0.1',
  broadcast: '255.255.255.255',
  'unspecified IPv6': '::',
  'loopback IPv6': '::1',
  'loopback IPv6 written out': '0000:0000:0000:0000:0000:0000:0000:0001',
  'v4-mapped loopback': '::ffff:127.0.0.1',
  'v4-mapped loopback in hex': '::ffff:7f00:1',
  'v4-mapped metadata service': '::ffff:a9fe:a9fe',
  'v4-compatible loopback': '::127.0.0.1',
  'v4-compatible public address': `::${PUBLIC_IPV4}`,
  'v4-translated loopback': '::ffff:0:127.0.0.1',
  'NAT64 of loopback': '64:ff9b::127.0.0.1',
  'NAT64 of a private address': '64:ff9b::a00:1',
  'NAT64 of the metadata service': '64:ff9b::a9fe:a9fe',
  'local-use NAT64, of a public address too': '64:ff9b:1::5db8:d70e',
  '6to4 of loopback': '2002:7f00:1::1',
  '6to4 of a private address': '2002:c0a8:101::',
  '6to4 of the metadata service': '2002:a9fe:a9fe::1',
  Teredo: '2001:0:53aa:64c:0:fbfe:a247:28f1',
  'link-local IPv6': 'fe80::1',
  'link-local IPv6 with a zone': 'fe80::1%eth0',
  'a public address with a zone': `${PUBLIC_IPV6}%eth0`,
  'deprecated site-local': 'fec0::1',
  'unique local': 'fc00::1',
  "AWS's metadata service over IPv6": 'fd00:ec2::254',
  'multicast IPv6': 'ff02::1',
  'discard-only': '100::1',
  'documentation IPv6': '2001:db8::1',
  'newer documentation IPv6': '3fff::1',
  'benchmarking IPv6': '2001:2::1',
  ORCHIDv2: '2001:20::1',
  'segment routing': '5f00::1',
  'IPv6 that nobody was given': '4000::1',
  'a decimal number': '2130706433',
  'a short form': '127.1',
  'an octal form': '0177.0.0.1',
  'brackets around an address': '[::1]',
  'a name': 'example.com',
  'no text': '',
};

const GOOD_ADDRESSES: Record<string, string> = {
  'public IPv4': PUBLIC_IPV4,
  'just below private 172.16/12': '172.15.255.255',
  'just above private 172.16/12': '172.32.0.0',
  'just above carrier-grade NAT': '100.128.0.0',
  'just above benchmarking': '198.20.0.0',
  'the last before multicast': '223.255.255.255',
  'public IPv6': PUBLIC_IPV6,
  'v4-mapped public address': `::ffff:${PUBLIC_IPV4}`,
  'NAT64 of a public address': '64:ff9b::5db8:d70e',
  '6to4 of a public address': '2002:5db8:d70e::1',
};

/** Each in test mode, where http is allowed; asking DNS about any of them fails the test. */
const HOSTILE_URLS: Record<string, [url: string, reason: Refusal]> = {
  loopback: ['http://127.0.0.1/', 'not_public'],
  'loopback with a port': ['http://127.0.0.1:6379/', 'not_public'],
  'loopback in decimal': ['http://2130706433/', 'not_public'],
  'loopback in hex': ['http://0x7f000001/', 'not_public'],
  'loopback in octal': ['http://017700000001/', 'not_public'],
  'loopback with an octal part': ['http://0177.0.0.1/', 'not_public'],
  'loopback with a hex part': ['http://0x7f.0.0.1/', 'not_public'],
  'loopback in two parts': ['http://127.1/', 'not_public'],
  'loopback in three parts': ['http://127.0.1/', 'not_public'],
  'loopback with a trailing dot': ['http://127.0.0.1./', 'not_public'],
  'loopback with two trailing dots': ['http://127.0.0.1../', 'not_public'],
  'loopback percent-encoded': ['http://%31%32%37.0.0.1/', 'not_public'],
  'loopback in circled digits': ['http://①②⑦.⓪.⓪.①/', 'not_public'],
  'loopback in fullwidth digits': ['http://１２７.０.０.１/', 'not_public'],
  'loopback with ideographic dots': ['http://127。0。0。1/', 'not_public'],
  'loopback with a soft hyphen': ['http://127.0.0.\u00ad1/', 'not_public'],
  zero: ['http://0/', 'not_public'],
  'the unspecified address': ['http://0.0.0.0/', 'not_public'],
  'a private address': ['http://192.168.0.1/hook', 'not_public'],
  'a private address in decimal': ['http://167772161/', 'not_public'],
  'the metadata service': ['http://169.254.169.254/latest/meta-data/', 'not_public'],
  'the metadata service in decimal': ['http://2852039166/', 'not_public'],
  'the metadata service in mixed spelling': ['http://0xa9.254.0251.254/', 'not_public'],
  'the metadata service in two parts': ['http://169.16689662/', 'not_public'],
  'loopback over https': ['https://127.0.0.1/', 'not_public'],
  'IPv6 loopback': ['http://[::1]/', 'not_public'],
  'IPv6 loopback written out': ['http://[0:0:0:0:0:0:0:1]/', 'not_public'],
  'IPv6 unspecified': ['http://[::]/', 'not_public'],
  'v4-mapped loopback': ['http://[::ffff:127.0.0.1]/', 'not_public'],
  'v4-mapped loopback in hex': ['http://[::ffff:7f00:1]/', 'not_public'],
  'NAT64 of loopback': ['http://[64:ff9b::7f00:1]/', 'not_public'],
  '6to4 of loopback': ['http://[2002:7f00:1::]/', 'not_public'],
  'a unique local address': ['http://[fd00:ec2::254]/', 'not_public'],
  'a link-local address': ['http://[fe80::1]/', 'not_public'],
  localhost: ['http://localhost:3000/', 'not_public'],
  'localhost in capitals': ['http://LOCALHOST/', 'not_public'],
  'localhost with a trailing dot': ['http://localhost./', 'not_public'],
  'localhost in fullwidth letters': ['http://ｌｏｃａｌｈｏｓｔ/', 'not_public'],
  'a name under localhost': ['http://api.localhost/', 'not_public'],
  'a name under localhost with a trailing dot': ['http://api.localhost./', 'not_public'],
  'an empty name': ['http://./', 'not_public'],
  'a zone in the address': ['http://[fe80::1%25eth0]/', 'not_a_url'],
  'too large a number': ['http://4294967296/', 'not_a_url'],
  'too large a part': ['http://256.256.256.256/', 'not_a_url'],
  'a name that ends in a number': ['http://example.0x7f/', 'not_a_url'],
  'no text': ['', 'not_a_url'],
  'words without a scheme': ['example.com/hook', 'not_a_url'],
  'a relative reference': ['//example.com/hook', 'not_a_url'],
  'no host': ['http://', 'not_a_url'],
  'no slashes': ['http:example.com', 'not_a_url'],
  'one slash': ['http:/example.com', 'not_a_url'],
  'three slashes': ['http:///example.com', 'not_a_url'],
  'backslashes for slashes': ['http:\\\\example.com\\', 'not_a_url'],
  'a backslash that hides the real host': ['http://example.com\\@127.0.0.1/', 'not_a_url'],
  'a tab in the host': ['http://exam\tple.com/', 'not_a_url'],
  'a line feed in the scheme': ['ht\ntp://example.com/', 'not_a_url'],
  'header injection': ['http://example.com/\r\nHost: internal', 'not_a_url'],
  'a leading space': [' http://example.com/', 'not_a_url'],
  'a trailing line feed': ['http://example.com/\n', 'not_a_url'],
  'a space in the path': ['http://example.com/a b', 'not_a_url'],
  'a no-break space': ['http://example.com/\u00a0', 'not_a_url'],
  'a NUL': ['http://example.com/\u0000', 'not_a_url'],
  'a DEL': ['http://example.com/\u007f', 'not_a_url'],
  'a lone surrogate': ['http://example.com/\ud800', 'not_a_url'],
  'a user and a password': ['http://user:secret@example.com/', 'credentials'],
  'a user only': ['http://user@example.com/', 'credentials'],
  'a password only': ['http://:secret@example.com/', 'credentials'],
  'empty credentials': ['http://@example.com/', 'credentials'],
  'a public name as the user of a private host': ['http://example.com@127.0.0.1/', 'credentials'],
  'a percent-encoded user': ['http://example.com%2f@127.0.0.1/', 'credentials'],
  ftp: ['ftp://example.com/', 'wrong_scheme'],
  'a file': ['file:///etc/passwd', 'wrong_scheme'],
  gopher: ['gopher://127.0.0.1:6379/_INFO', 'wrong_scheme'],
  websockets: ['ws://example.com/', 'wrong_scheme'],
  'a script': ['javascript:alert(1)', 'wrong_scheme'],
  data: ['data:text/plain,hello', 'wrong_scheme'],
  'a scheme that begins like http': ['httpx://example.com/', 'wrong_scheme'],
};

const HOSTILE_ANSWERS: Record<string, string[]> = {
  loopback: ['127.0.0.1'],
  'the metadata service': ['169.254.169.254'],
  'IPv6 loopback': ['::1'],
  'v4-mapped loopback': ['::ffff:127.0.0.1'],
  'NAT64 of a private address': ['64:ff9b::10.0.0.1'],
  'a link-local address with its zone': ['fe80::1%2'],
  'a public address, then a private one': [PUBLIC_IPV4, '10.0.0.1'],
  'a private address, then a public one': ['10.0.0.1', PUBLIC_IPV4],
  'public IPv4 with private IPv6': [PUBLIC_IPV4, 'fd00::1'],
  'something that is not an address': ['localhost'],
};

const GOOD_URLS: Record<string, [url: string, href: string]> = {
  'a plain URL': ['https://example.com/hook', 'https://example.com/hook'],
  'a port': ['https://example.com:8443/hook', 'https://example.com:8443/hook'],
  'a query': ['https://example.com/hook?a=1&b=%20', 'https://example.com/hook?a=1&b=%20'],
  'an @ in the path': ['https://example.com/@shop/hook', 'https://example.com/@shop/hook'],
  'an @ in the query': ['https://example.com?to=a@b.c', 'https://example.com/?to=a@b.c'],
  'capitals in the scheme and the name': ['HTTPS://Example.COM/Hook', 'https://example.com/Hook'],
  'a trailing dot': ['https://example.com./hook', 'https://example.com./hook'],
  'an international name': ['https://bücher.example/hook', 'https://xn--bcher-kva.example/hook'],
  'a name that only begins with localhost': [
    'https://localhost.example.com/',
    'https://localhost.example.com/',
  ],
  'a public IPv4 address': [`https://${PUBLIC_IPV4}/hook`, `https://${PUBLIC_IPV4}/hook`],
  'a public IPv4 address in decimal': ['https://1572394766/', `https://${PUBLIC_IPV4}/`],
  'a public IPv6 address': [`https://[${PUBLIC_IPV6}]/hook`, `https://[${PUBLIC_IPV6}]/hook`],
};

type Refusal = Extract<UrlVerdict, { ok: false }>['reason'];

const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;

const neverAsked: Resolve = (hostname) => assert.fail(`DNS was asked about ${hostname}`);

const TEST_MODE = {
  livemode: false,
  allowPrivateNetworks: false,
  resolve: answering(PUBLIC_IPV4, PUBLIC_IPV6),
  timeoutMs: 2000,
};
const LIVE_MODE = { ...TEST_MODE, livemode: true };

async function reasonOf(url: string, rules = TEST_MODE): Promise<Refusal | undefined> {
  const verdict = await judgeWebhookUrl(url, rules);
  return verdict.ok ? undefined : verdict.reason;
}

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
  describe('refuses, without asking DNS,', () => {
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

    it('a name that does not resolve in time, whatever it answers later', async () => {
      const { resolve, answer } = heldBack();
      assert.equal(
        await reasonOf('https://slow.example/', { ...LIVE_MODE, resolve, timeoutMs: 1 }),
        undefined,
      );
      answer(['127.0.0.1']);
    });
  });

  it('asks DNS once, for the very name that a connection would ask for', async () => {
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

  it('wants https in live mode and takes http in test mode', async () => {
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
      it(`accepts ${url} without asking DNS`, async () => {
        assert.equal(await reasonOf(url, rules), undefined);
      });
    }

    it('still refuses the wrong scheme, credentials and what is not a URL', async () => {
      assert.equal(await reasonOf('http://127.0.0.1/', { ...rules, livemode: true }), 'wrong_scheme');
      assert.equal(await reasonOf('ftp://127.0.0.1/', rules), 'wrong_scheme');
      assert.equal(await reasonOf('http://user:secret@127.0.0.1/', rules), 'credentials');
      assert.equal(await reasonOf('http://127.0.0.1/\t', rules), 'not_a_url');
    });
  });
});

describe('looking up the host of a connection', () => {
  const strict = (...addresses: string[]): LookupFunction => publicLookup(false, answering(...addresses));

  it('gives all public answers in their order', async () => {
    assert.deepEqual(await lookUp(strict(PUBLIC_IPV6, PUBLIC_IPV4), { all: true }), [
      { address: PUBLIC_IPV6, family: 6 },
      { address: PUBLIC_IPV4, family: 4 },
    ]);
  });

  it('gives the first public answer when one is asked for', async () => {
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
    it(`gives only answers of the family that is asked for (${family})`, async () => {
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

  it('fails on a private answer of the family that is not asked for', async () => {
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

  it('gives private answers when private networks are allowed', async () => {
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

describe('a host that already is an address, which sockets do not look up,', () => {
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
    it(`is let through when it is public, and names are: ${url}`, () => {
      assert.doesNotThrow(() => assertPublicHost(new URL(url)));
    });
  }
});

describe('resolving a host', () => {
  it("asks the system's resolver, which knows addresses without a network, where private networks are allowed", async () => {
    assert.deepEqual(await resolveAsTheSystemDoes('127.0.0.1'), ['127.0.0.1']);
    assert.deepEqual(await resolveAsTheSystemDoes('::1'), ['::1']);
  });

  describe('by name servers', () => {
    const names: NameServer['names'] = {
      'both.example': { 1: ['93.184.216.34', '93.184.216.35'], 28: ['2606:2800:220:1::1'] },
      'v4.example': { 1: ['93.184.216.34'], 28: [] },
      'v6.example': { 1: [], 28: ['2606:2800:220:1::1'] },
      'private.example': { 1: ['10.0.0.1'], 28: [] },
      'silent.example': 'silence',
    };
    let server: NameServer;
    let resolve: Resolve;
    before(async () => {
      server = await startNameServer(names);
      resolve = resolveByNameServers([server.address]);
    });
    after(() => server.close());

    it('gives the addresses of both families, those of IPv4 first', async () => {
      assert.deepEqual(await resolve('both.example'), [
        '93.184.216.34',
        '93.184.216.35',
        '2606:2800:220:1::1',
      ]);
      assert.deepEqual(await resolve('v4.example'), ['93.184.216.34']);
      assert.deepEqual(await resolve('v6.example'), ['2606:2800:220:1::1']);
    });

    it('fails on a name that is not there', async () => {
      await assert.rejects(resolve('gone.example'), { code: 'ENOTFOUND' });
    });

    it('gives what a private name resolves to, to be judged', async () => {
      await assert.rejects(
        lookUp(publicLookup(false, resolve), { all: true }, 'private.example'),
        isNotPublic,
      );
    });

    it('does not wait for names whose servers are silent before it answers others', async () => {
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

function heldBack(): { resolve: Resolve; answer: (addresses: string[]) => void } {
  let answer: (addresses: string[]) => void = () => {};
  const addresses = new Promise<string[]>((done) => {
    answer = done;
  });
  return { resolve: () => addresses, answer: (late) => answer(late) };
}

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
