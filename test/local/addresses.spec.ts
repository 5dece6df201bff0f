import assert from 'node:assert/strict';
import { addressesFor } from '../../local/service/addresses.js';

const LOCAL = { baseUrl: 'http://localhost:3000', host: undefined, port: 3000 };
const LAN = { ...LOCAL, baseUrl: 'http://192.168.1.20:3000' };
const at = (address: string, internal = false) => [
  {
    address,
    internal,
    family: 'IPv4' as const,
    netmask: '255.255.255.0',
    mac: '00:00:00:00:00:00',
    cidr: null,
  },
];
const HOME = { lo: at('127.0.0.1', true), docker0: at('172.17.0.1'), eth0: at('192.168.1.20') };

describe('the addresses that npm start prints', () => {
  it('name the setting that lets phones open QR codes', () => {
    assert.deepEqual(addressesFor(LOCAL, HOME), {
      here: LOCAL.baseUrl,
      phones: 'to open QR codes: BASE_URL=http://192.168.1.20:3000 npm start',
    });
  });

  it('stay on localhost for this machine when BASE_URL is its address in the network', () => {
    assert.deepEqual(addressesFor(LAN, HOME), {
      here: LOCAL.baseUrl,
      phones: 'QR codes open http://192.168.1.20:3000',
    });
  });

  for (const [name, settings, interfaces] of [
    ['a machine without a network', LOCAL, { lo: HOME.lo, docker0: HOME.docker0 }],
    ['a machine with a public address', LOCAL, { eth0: at('203.0.113.7') }],
    ['an address of another machine', { ...LAN, baseUrl: 'https://pay.example' }, HOME],
    ['web that listens on one address only', { ...LAN, host: '192.168.1.20' }, HOME],
  ] as const) {
    it(`are BASE_URL alone for ${name}`, () => {
      assert.deepEqual(addressesFor(settings, interfaces), { here: settings.baseUrl, phones: undefined });
    });
  }
});
