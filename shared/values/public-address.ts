import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { within } from '../process/within.js';
import { parseUrl } from './parse-url.js';

/**
 * No webhook reaches our own network. A URL is judged when it is stored (judgeWebhookUrl) and again for every
 * connection, on the very addresses that the connection will use, so that a name whose answer has changed since
 * (DNS rebinding) is refused. That second look takes both publicLookup, for names, and assertPublicHost: a socket
 * never looks up a host that already is an address. One address that is not public condemns the whole answer.
 */
export type Resolve = (hostname: string) => Promise<string[]>;

export type UrlVerdict =
  | { ok: true; url: URL }
  | { ok: false; reason: 'not_a_url' | 'wrong_scheme' | 'credentials' | 'not_public' };

export interface WebhookUrlRules {
  livemode: boolean;
  allowPrivateNetworks: boolean;
  resolve: Resolve;
  timeoutMs: number;
}

export class NotPublicAddressError extends Error {
  override readonly name = 'NotPublicAddressError';
  readonly code = 'ENOTPUBLIC';

  constructor(hostname: string) {
    super(`${hostname} is not a public address, or resolves to one that is not`);
  }
}

/** The URL parser drops or rewrites these, so that the URL we call would not be the one that was written. */
const REWRITTEN_BY_THE_PARSER = /[\s\p{Cc}\p{Cs}\\]/u;
const HTTP_WITHOUT_HOST = /^https?:(?!\/\/[^/?#])/i;
/** Also an empty one, `https://@host`, which the parser drops. */
const USER_INFO = /^[^/]*\/\/[^/?#]*@/;
/** Everything else in IPv6 is special or not assigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Azure's platform services, reachable from inside its virtual machines only, though the range is a public one. */
const AZURE_PLATFORM = '168.63.129.16';
const FAMILIES = new Map<LookupOptions['family'], number>([
  [4, 4],
  [6, 6],
  ['IPv4', 4],
  ['IPv6', 6],
]);

/** A name that does not resolve, or not in time, is accepted: it may be set up later, and deliveries judge again. */
export async function judgeWebhookUrl(text: string, rules: WebhookUrlRules): Promise<UrlVerdict> {
  const url = parseUrl(text);
  if (url === undefined || REWRITTEN_BY_THE_PARSER.test(text) || HTTP_WITHOUT_HOST.test(text)) {
    return { ok: false, reason: 'not_a_url' };
  }
  const schemes = rules.livemode ? ['https:'] : ['https:', 'http:'];
  if (!schemes.includes(url.protocol)) return { ok: false, reason: 'wrong_scheme' };
  if (USER_INFO.test(text)) return { ok: false, reason: 'credentials' };
  if (rules.allowPrivateNetworks) return { ok: true, url };

  const host = judgeHost(url.hostname);
  const isPublic =
    host === 'name' ? (await addressesInTime(url.hostname, rules)).every(isPublicAddress) : host === 'public';
  return isPublic ? { ok: true, url } : { ok: false, reason: 'not_public' };
}

/** Right before connecting; not when private networks are allowed. */
export function assertPublicHost(url: URL): void {
  if (judgeHost(url.hostname) === 'not_public') throw new NotPublicAddressError(url.hostname);
}

/** For the `lookup` option of sockets, of node's http and https requests and of undici's `connect`. */
export function publicLookup(
  allowPrivateNetworks: boolean,
  resolve: Resolve = allowPrivateNetworks ? resolveAsTheSystemDoes : resolveHost,
): LookupFunction {
  const vet = async (hostname: string, family: LookupOptions['family']): Promise<Answers> => {
    const addresses = await resolve(hostname);
    if (!allowPrivateNetworks && !addresses.every(isPublicAddress)) throw new NotPublicAddressError(hostname);
    return answersOfFamily(hostname, addresses, family);
  };
  return (hostname, options, callback) => {
    vet(hostname, options.family).then(
      (answers) =>
        options.all ? callback(null, answers) : callback(null, answers[0].address, answers[0].family),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}

type Answers = [LookupAddress, ...LookupAddress[]];

function answersOfFamily(hostname: string, addresses: string[], family: LookupOptions['family']): Answers {
  const wanted = FAMILIES.get(family);
  const [first, ...others] = addresses
    .map((address) => ({ address, family: isIP(address) }))
    .filter((answer) => wanted === undefined || answer.family === wanted);
  if (first !== undefined) return [first, ...others];
  throw Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND', hostname });
}

/**
 * Asks the name servers itself. The system's own look-up takes one of four threads that the whole process shares, so
 * that a few names whose servers never answer would hold up every other name.
 */
export const resolveHost: Resolve = resolveByNameServers();

export function resolveByNameServers(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const failed = answers.find((answer) => answer.status === 'rejected');
    if (addresses.length === 0 && failed !== undefined) throw failed.reason;
    return addresses;
  };
}

/** Also names that only this machine or its network knows. */
export async function resolveAsTheSystemDoes(hostname: string): Promise<string[]> {
  const answers = await lookup(hostname, { all: true });
  return answers.map((answer) => answer.address);
}

/** Anything but an address in its usual spelling is not one; a zone (fe80::1%eth0) means one machine's link. */
export function isPublicAddress(ip: string): boolean {
  const version = isIP(ip);
  if (version === 4) return isPublicIpv4(ipaddr.IPv4.parse(ip));
  return version === 6 && !ip.includes('%') && isPublicIpv6(ip);
}

function isPublicIpv6(ip: string): boolean {
  // ipaddr.js takes the dotted ::1.2.3.4 for ::ffff:1.2.3.4; the URL parser spells it ::102:304.
  const address = ipaddr.IPv6.parse(new URL(`http://[${ip}]`).hostname.slice(1, -1));
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress() || address.match(NAT64)) {
    return isPublicIpv4(new ipaddr.IPv4(bytes.slice(12)));
  }
  if (address.range() === '6to4') return isPublicIpv4(new ipaddr.IPv4(bytes.slice(2, 6)));
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast';
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && address.toString() !== AZURE_PLATFORM;
}

/** The URL parser has already turned every spelling of an IPv4 address into four decimal numbers. */
function judgeHost(hostname: string): 'public' | 'not_public' | 'name' {
  const host = hostname.replace(/^\[|\]$|\.+$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host) ? 'public' : 'not_public';
  return host === '' || host === 'localhost' || host.endsWith('.localhost') ? 'not_public' : 'name';
}

async function addressesInTime(hostname: string, { resolve, timeoutMs }: WebhookUrlRules): Promise<string[]> {
  return await within(timeoutMs, resolve(hostname)).catch(() => []);
}
