import assert from 'node:assert/strict';
import { addressKey } from '../../../api/limits/address-key.js';

const CONNECTED = '203.0.113.9';

function keyOf(ip: string | undefined, remoteAddress: string | undefined = CONNECTED): string {
  return addressKey({ ip, socket: { remoteAddress } });
}

describe('the key of an address', () => {
  const IPV6 = '2001:db8:1:2::/64';
  const same: [what: string, key: string, spellings: string[]][] = [
    ['IPv4 in any notation', '1.2.3.4', ['1.2.3.4', '1.2.3.4:5678', '1.2.3.4:0']],
    [
      'IPv4 in IPv6',
      '1.2.3.4',
      ['::ffff:1.2.3.4', '::FFFF:1.2.3.4', '::ffff:102:304', '0:0:0:0:0:ffff:102:304'],
    ],
    ['IPv4 in IPv6', '1.2.3.4', ['[::ffff:1.2.3.4]', '[::ffff:1.2.3.4]:5678', '::ffff:1.2.3.4%eth0']],
    ['IPv4 behind a NAT64 translator', '1.2.3.4', ['64:ff9b::1.2.3.4', '64:ff9b::102:304']],
    ['IPv4 as 6to4 wraps it', '1.2.3.4', ['2002:102:304::1', '2002:102:304:ffff:1:2:3:4']],
    [
      'IPv6 by its /64',
      IPV6,
      ['2001:db8:1:2::', '2001:DB8:1:2::1', '2001:0db8:0001:0002:ffff:ffff:ffff:ffff'],
    ],
    [
      'IPv6 with a port',
      IPV6,
      ['[2001:db8:1:2::1]', '[2001:db8:1:2::1]:5678', '[2001:db8:1:2::1%eth0]:5678'],
    ],
    ['a link’s own addresses', 'fe80::/64', ['fe80::1%eth0', 'fe80::2%eth1', 'fe80::1']],
    [
      "a text that is no address as the connection's",
      CONNECTED,
      [
        ...[
          '',
          ' ',
          'unknown',
          'a'.repeat(10_000),
          '1.2.3',
          '1.2.3.256',
          '01.2.3.4',
          '0x1.2.3.4',
          '16909060',
        ],
        ...['1.2.3.4:', '1.2.3.4:x', '1.2.3.4:123456', '1.2.3.4, 5.6.7.8', '[1.2.3.4', '[]:1'],
        ...['2001:db8:::1', '::g', '%eth0'],
      ],
    ],
  ];
  for (const [what, key, spellings] of same) {
    for (const spelling of spellings) {
      it(`${what}: ${spelling.slice(0, 40)}`, () => assert.equal(keyOf(spelling), key));
    }
  }

  it('distinguishes neighbouring addresses', () => {
    const neighbours = ['1.2.3.4', '1.2.3.5', '2001:db8:1:2::1', '2001:db8:1:3::1'];
    const translated = ['64:ff9b::1.2.3.6', '64:ff9b:1::1.2.3.6', '2002:102:307::1'];
    const keys = [...neighbours, ...translated].map((ip) => keyOf(ip));
    assert.equal(new Set(keys).size, keys.length);
  });

  it('of the connection is normalized too', () => {
    assert.equal(keyOf(undefined, '::ffff:203.0.113.9'), CONNECTED);
    assert.equal(keyOf('garbage', '2001:db8:1:2::1'), '2001:db8:1:2::/64');
  });

  it('is the same for all requests whose connection has ended', () => {
    assert.equal(addressKey({ ip: undefined, socket: {} }), 'unknown');
  });
});
