import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import type { Config } from '../../shared/config/config.js';

interface Addresses {
  /** The address for programs and browsers of this machine. */
  here: string;
  /** How phones open the QR code of a payment page. */
  phones: string | undefined;
}

/** Networks of containers, virtual machines and tunnels: no phone is in them. */
const VIRTUAL = /^(?:docker|br-|veth|virbr|vmnet|vboxnet|bridge|utun|tun|tap|wg|tailscale)/;

/**
 * QR codes hold BASE_URL. When that is this machine's address in its network, so that phones can open it, this machine
 * still uses localhost, whose pages alone the sandbox lets use its wallets.
 */
export function addressesFor(
  { baseUrl, host, port }: Pick<Config, 'baseUrl' | 'host' | 'port'>,
  interfaces = networkInterfaces(),
): Addresses {
  const named = Object.entries(interfaces).flatMap(([name, addresses = []]) =>
    addresses.filter(({ internal }) => !internal).map(({ address }) => ({ name, address })),
  );
  const local = `http://localhost:${port}`;
  // With HOST, web may listen on neither.
  if (host !== undefined) return { here: baseUrl, phones: undefined };
  const { hostname } = new URL(baseUrl);
  if (named.some(({ address }) => address === hostname))
    return { here: local, phones: `QR codes open ${baseUrl}` };
  const lan = named.find(
    ({ name, address }) => !VIRTUAL.test(name) && ipaddr.parse(address).range() === 'private',
  );
  if (lan === undefined || baseUrl !== local) return { here: baseUrl, phones: undefined };
  return { here: local, phones: `to open QR codes: BASE_URL=http://${lan.address}:${port} npm start` };
}
