import { parseUrl } from '../values/parse-url.js';
import { ENCODED, isCutByPassword, isPercentEncoded } from './percent-encoding.js';

/** REDIS_URL names a single Redis, a master found through Sentinels, or a cluster. */
export type RedisAddress =
  | { kind: 'one'; tls: boolean; url: string }
  | ({ kind: 'cluster' } & Nodes)
  | ({ kind: 'sentinel'; name: string; db: number; sentinels: Credentials } & Nodes);

interface Credentials {
  username?: string;
  password?: string;
}

interface HostAndPort {
  host: string;
  port: number;
}

interface Nodes {
  tls: boolean;
  nodes: HostAndPort[];
  credentials: Credentials;
}

const SEVERAL = /^(rediss?)\+(cluster|sentinel):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const NODE = /^(\[[0-9a-f:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/i;
const DEFAULT_PORTS = { cluster: 6379, sentinel: 26379 };
const SENTINEL_OPTIONS = ['sentinel_username', 'sentinel_password'] as const;

/** True also for a malformed URL with several nodes. */
function hasSeveralNodes(text: string): boolean {
  return /^rediss?\+/.test(text) || /^rediss?:\/\/[^/]*,/.test(text);
}

/** A string is an error text. It does not quote the URL, which may hold a password. */
export function parseRedisUrl(text: string): RedisAddress | string {
  if (!hasSeveralNodes(text)) return readOne(text);
  const [, scheme, kind, login, hosts, path = '', query = ''] = SEVERAL.exec(text) ?? [];
  if (scheme === undefined || (kind !== 'cluster' && kind !== 'sentinel') || hosts === undefined)
    return FORMS;
  const nodes = readNodes(hosts, DEFAULT_PORTS[kind]);
  const credentials = readCredentials(login);
  if (nodes === undefined || credentials === undefined) return FORMS;
  const shared = { tls: scheme === 'rediss', nodes, credentials };
  if (kind === 'sentinel') return readSentinel(shared, path, query);
  if ((path !== '' && path !== '0') || query !== '')
    return 'has a database or options, which a Redis cluster does not support: remove everything after the nodes.';
  return { kind, ...shared };
}

/**
 * Everything else about the URL is left to ioredis, which throws at some URLs that are refused here, and asks Redis for a
 * database named `abc`.
 */
function readOne(text: string): RedisAddress | string {
  const url = parseUrl(text);
  if (url === undefined || !/^rediss?:\/\//i.test(text)) return FORMS;
  if (!isPercentEncoded(url.username + url.password))
    return 'has a user or a password that is not percent-encoded: write a percent sign in it as %25.';
  if (isCutByPassword(url)) return `has a user or a password that is not percent-encoded: write ${ENCODED}.`;
  const db = url.pathname.slice(1) || (url.searchParams.get('db') ?? '');
  if (!/^\d{0,4}$/.test(db))
    return 'must end with the number of a database, as in /0, or with the host and port.';
  return { kind: 'one', tls: url.protocol === 'rediss:', url: text };
}

const FORMS =
  'must be redis://[user:password@]host:port, redis+cluster://[user:password@]host:port,host:port or redis+sentinel://[user:password@]host:port,host:port/master-name; with rediss for TLS.';

function readSentinel(shared: Nodes, path: string, query: string): RedisAddress | string {
  const [, name, db = '0'] = /^([\w.-]+)(?:\/(\d{1,4}))?$/.exec(path) ?? [];
  if (name === undefined)
    return 'must end with the name of the master in the Sentinel configuration: …/master-name.';
  const options = new URLSearchParams(query);
  if ([...options.keys()].some((key) => !SENTINEL_OPTIONS.some((known) => known === key)))
    return `may have only the options ${SENTINEL_OPTIONS.join(' and ')}.`;
  const [username, password] = SENTINEL_OPTIONS.map((key) => options.get(key) || undefined);
  const sentinels = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
  };
  return { kind: 'sentinel', ...shared, name, db: Number(db), sentinels };
}

function readNodes(hosts: string, defaultPort: number): HostAndPort[] | undefined {
  const nodes = hosts.split(',').map((text) => {
    const [, host, port = String(defaultPort)] = NODE.exec(text.trim()) ?? [];
    const isPort = Number(port) > 0 && Number(port) < 65_536;
    return host === undefined || !isPort
      ? undefined
      : { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });
  return nodes.every((node) => node !== undefined) ? nodes : undefined;
}

/** `user:password` or `:password`, percent-encoded. */
function readCredentials(login = ''): Credentials | undefined {
  const colon = login.indexOf(':');
  const [user, secret] = colon < 0 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)];
  try {
    const [username, password] = [decodeURIComponent(user), decodeURIComponent(secret)];
    return { ...(username !== '' && { username }), ...(password !== '' && { password }) };
  } catch {
    return undefined;
  }
}
