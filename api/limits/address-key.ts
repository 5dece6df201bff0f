import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The two addresses of a request: Express's, by its `trust proxy` setting, and the socket's. */
interface Addressed {
  ip?: string | undefined;
  socket: { remoteAddress?: string | undefined };
}

/** The forms that proxies write: `1.2.3.4:5678`, `[2001:db8::1]:5678`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;
/** IPv4 addresses on a dual-stack socket. */
const MAPPED = '::ffff:';
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const NETWORK_BYTES = 8;

/**
 * The key under which every limit per address counts a request. IPv4 counts by address in any notation; IPv6 by its /64,
 * which belongs to one customer. A text that is not an address, which only a proxy can write, falls back to the socket's.
 */
export function addressKey({ ip, socket }: Addressed): string {
  return keyOf(ip) ?? keyOf(socket.remoteAddress) ?? 'unknown';
}

function keyOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // Fast path for plain IPv4.
  const plain = text.startsWith(MAPPED) ? text.slice(MAPPED.length) : text;
  if (isIP(plain) === 4) return plain;
  const [, bracketed, dotted] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (bracketed ?? dotted ?? text).split('%', 1);
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return keyOfIpv6(ipaddr.IPv6.parse(address));
    default:
      return undefined;
  }
}

/** Addresses that embed IPv4 count as that IPv4: NAT64 has all of IPv4 in one /64, 6to4 gives each IPv4 65,536 of them. */
function keyOfIpv6(address: ipaddr.IPv6): string {
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return bytes.slice(12).join('.');
  if (address.range() === '6to4') return bytes.slice(2, 6).join('.');
  const network = bytes.map((byte, index) => (index < NETWORK_BYTES ? byte : 0));
  return `${new ipaddr.IPv6(network).toString()}/64`;
}
