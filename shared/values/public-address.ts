import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { withTimeout } from '../process/timeout.js';
import { parseUrl } from './parse-url.js';

/**
 * Protection against server-side request forgery: webhooks must not reach private networks. A URL is checked when it is
 * stored (judgeWebhookUrl) and again for every connection, on the addresses that the connection uses, since a name may
 * resolve differently by then (DNS rebinding). The second check needs both publicLookup, for names, and
 * assertPublicHost, since a socket does not look up a host that is an address. One private address among several
 * refuses the host.
 */
export type Resolve = (hostname: string) => Promise<string[]>;

export type UrlVerdict =
  | { ok: true; url: URL }
  | { ok: false; reason: 'not_a_url' | 'wrong_scheme' | 'credentials' | 'not_public' };

interface WebhookUrlRules {
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

/** The URL parser drops or rewrites these characters, so the called URL would differ from the stored one. */
const REWRITTEN_BY_THE_PARSER = /[\s\p{Cc}\p{Cs}\\]/u;
const HTTP_WITHOUT_HOST = /^https?:(?!\/\/[^/?#])/i;
/** Matches also empty user information (`https://@host`), which the parser drops. */
const USER_INFO = /^[^/]*\/\/[^/?#]*@/;
/** All other IPv6 ranges are reserved or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');
/** Azure's platform services: a public address that only Azure's virtual machines reach. */
const AZURE_PLATFORM = '168.63.129.16';
const FAMILIES = new Map<LookupOptions['family'], number>([
  [4, 4],
  [6, 6],
  ['IPv4', 4],
  ['IPv6', 6],
]);

/** Accepts a name that does not resolve in time: it may be set up later, and each delivery checks it again. */
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

/** Call right before connecting, unless private networks are allowed. */
export function assertPublicHost(url: URL): void {
  if (judgeHost(url.hostname) === 'not_public') throw new NotPublicAddressError(url.hostname);
}

/** Makes a function for the `lookup` option of sockets, of node's http and https requests and of undici's `connect`. */
export function publicLookup(
  allowPrivateNetworks: boolean,
  resolve: Resolve = allowPrivateNetworks ? resolveBySystem : resolveHost,
): LookupFunction {
  const resolvePublic = async (hostname: string, family: LookupOptions['family']): Promise<Answers> => {
    const addresses = await resolve(hostname);
    if (!allowPrivateNetworks && !addresses.every(isPublicAddress)) throw new NotPublicAddressError(hostname);
    return answersOfFamily(hostname, addresses, family);
  };
  return (hostname, options, callback) => {
    resolvePublic(hostname, options.family).then(
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
 * Queries the name servers directly. The system's resolver (`dns.lookup`) blocks one of the four threads of libuv, so a
 * few names whose servers never answer would delay all other names.
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

/** Resolves also names from /etc/hosts and from the local network. */
export async function resolveBySystem(hostname: string): Promise<string[]> {
  const answers = await lookup(hostname, { all: true });
  return answers.map((answer) => answer.address);
}

/** False for other spellings than `isIP` accepts, and for addresses with a zone (fe80::1%eth0), which are link-local. */
export function isPublicAddress(ip: string): boolean {
  const version = isIP(ip);
  if (version === 4) return isPublicIpv4(ipaddr.IPv4.parse(ip));
  return version === 6 && !ip.includes('%') && isPublicIpv6(ip);
}

function isPublicIpv6(ip: string): boolean {
  // ipaddr.js parses the dotted ::1.2.3.4 as ::ffff:1.2.3.4; the URL parser writes it as ::102:304.
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

/** The URL parser has already normalized IPv4 addresses to four decimal numbers. */
function judgeHost(hostname: string): 'public' | 'not_public' | 'name' {
  const host = hostname.replace(/^\[|\]$|\.+$/g, '');
  if (isIP(host) !== 0) return isPublicAddress(host) ? 'public' : 'not_public';
  return host === '' || host === 'localhost' || host.endsWith('.localhost') ? 'not_public' : 'name';
}

async function addressesInTime(hostname: string, { resolve, timeoutMs }: WebhookUrlRules): Promise<string[]> {
  return await withTimeout(timeoutMs, resolve(hostname)).catch(() => []);
}
