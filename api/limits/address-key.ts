import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Of a request: who asks by Express's rule of `trust proxy`, and who is connected. */
interface Asked {
  ip?: string | undefined;
  socket: { remoteAddress?: string | undefined };
}

/** As proxies write it: `1.2.3.4:5678`, `[2001:db8::1]:5678`, `[2001:db8::1]`. */
const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;
/** IPv4 on a socket that listens to both. */
const MAPPED = '::ffff:';
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
const NETWORK_BYTES = 8;

/**
 * Under which name an address is counted by every limit per address. IPv4 by itself, however it is written; IPv6 by its /64,
 * which one customer has whole. What is no address, which only a proxy can have written, counts as the connection does.
 */
export function addressKey({ ip, socket }: Asked): string {
  return keyOf(ip) ?? keyOf(socket.remoteAddress) ?? 'unknown';
}

function keyOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  // Most are, and no more is to be done.
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

/** Those that only wrap an IPv4 address count as it: a translator has all of IPv4 in one /64, 6to4 gives each 65,536. */
function keyOfIpv6(address: ipaddr.IPv6): string {
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(NAT64)) return bytes.slice(12).join('.');
  if (address.range() === '6to4') return bytes.slice(2, 6).join('.');
  const network = bytes.map((byte, index) => (index < NETWORK_BYTES ? byte : 0));
  return `${new ipaddr.IPv6(network).toString()}/64`;
}
