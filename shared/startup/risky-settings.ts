import ipaddr from 'ipaddr.js';
import { NETWORKS } from '../chains/networks/networks.js';
import type { Config, DatabaseConfig } from '../config/config.js';
import { postgresConnection } from '../db/connection.js';
import type { Logger } from '../process/logger.js';

/** A valid setting that is unsafe in production. `hint` says what it allows and how to change it. */
interface RiskySetting {
  event: string;
  hint: string;
}

/**
 * Logs one line per risky setting at the start of a production process, also when NODE_ENV is perhaps a slip of
 * `production`.
 */
export function warnAboutRiskySettings(config: Config, logger: Logger): void {
  const { environment, production } = config;
  if (environment !== undefined && !ENVIRONMENTS.includes(environment))
    logger.warn(unknownEnvironment(environment));
  if (production) for (const setting of findRiskySettings(config)) logger.warn(setting);
}

const ENVIRONMENTS = ['production', 'development', 'test'];

const unknownEnvironment = (environment: string): RiskySetting => ({
  event: 'config.unknown_environment',
  hint: `NODE_ENV is "${environment}", so this process takes itself for a developer's: it checks no password, requires no ENCRYPTION_KEY and warns of no dangerous setting. Set it to production.`,
});

export function findRiskySettings(config: Config): RiskySetting[] {
  return [
    ...risksOfBaseUrl(config.baseUrl),
    ...risksOfPath(config.baseUrl),
    ...risksOfNetworks(config),
    ...(config.trustProxy === true ? [TRUSTS_EVERY_PROXY] : []),
    ...(config.baseUrl.startsWith('https:') && !config.trustProxyIsSet ? [NO_TRUST_PROXY] : []),
    ...(config.encryptionKeys.some((key) => key.every((byte) => byte === 0)) ? [ZERO_KEY] : []),
    ...(config.allowPrivateWebhooks ? [PRIVATE_WEBHOOKS] : []),
    ...(isRemoteWithoutTls(config.database) ? [plainPostgres('DATABASE_URL')] : []),
    ...(config.replica && isRemoteWithoutTls(config.replica) ? [plainPostgres('DATABASE_REPLICA_URL')] : []),
  ];
}

const TRUSTS_EVERY_PROXY: RiskySetting = {
  event: 'config.trusts_every_proxy',
  hint: 'TRUST_PROXY=true trusts every X-Forwarded-For header: clients can choose their address and evade the limits per address. Set the number of proxies, or their addresses.',
};
const NO_TRUST_PROXY: RiskySetting = {
  event: 'config.no_trust_proxy',
  hint: 'BASE_URL is https, which this process does not speak, so a proxy is in front of it; TRUST_PROXY is not set, so all buyers share the address of that proxy and its rate limit. Set the number of proxies, or false if yours passes the address on by itself.',
};
const ZERO_KEY: RiskySetting = {
  event: 'config.zero_key',
  hint: 'ENCRYPTION_KEY is all zeros: anyone with a copy of the database can read the webhook secrets. Set 32 random bytes in front of it (openssl rand -base64 32), run reseal-secrets, and remove it.',
};
const PRIVATE_WEBHOOKS: RiskySetting = {
  event: 'config.private_webhooks',
  hint: 'WEBHOOK_ALLOW_PRIVATE_NETWORKS=true lets merchants send requests to every address that this host reaches, including your own network and the cloud metadata service. Unset it.',
};
const plainPostgres = (variable: string): RiskySetting => ({
  event: 'config.plain_postgres',
  hint: `${variable} names another host without TLS: anyone on the network path can read and change all stored data. Add sslmode=require to it.`,
});

/** Undefined when links start with an address of another host. */
export function riskOfLocalLinks(baseUrl: string): RiskySetting | undefined {
  if (!isLocalHost(new URL(baseUrl).hostname)) return undefined;
  return {
    event: 'config.local_base_url',
    hint: `BASE_URL is not set, or names this host: links start with ${baseUrl}, which buyers cannot open. Set it to the public address.`,
  };
}

function risksOfBaseUrl(baseUrl: string): RiskySetting[] {
  const local = riskOfLocalLinks(baseUrl);
  if (local !== undefined) return [local];
  if (new URL(baseUrl).protocol === 'https:') return [];
  return [
    {
      event: 'config.plain_base_url',
      hint: 'BASE_URL is http: anyone on the network path can read API keys and change the wallet that a buyer pays to. Set an https address.',
    },
  ];
}

/** Links append their own path. */
function risksOfPath(baseUrl: string): RiskySetting[] {
  if (new URL(baseUrl).pathname === '/') return [];
  return [
    {
      event: 'config.base_url_with_path',
      hint: `BASE_URL has more than an address: links are ${baseUrl}/c/…, which open only if your proxy removes that part. Set it to scheme, host and port.`,
    },
  ];
}

/** A setting of a network that was offered once still serves old payments. */
function risksOfNetworks({ confirmations, rpcUrls, explorerUrls }: Config): RiskySetting[] {
  const suffixes = new Set([...confirmations.keys(), ...rpcUrls.keys(), ...explorerUrls.keys()]);
  for (const { environmentSuffix } of NETWORKS) suffixes.delete(environmentSuffix);
  return [...suffixes].map((suffix) => ({
    event: 'config.unknown_network',
    hint: `A setting ends with ${suffix}, a network that is not offered: it has no effect on any other. Correct the chain id, or unset it.`,
  }));
}

function isRemoteWithoutTls(database: DatabaseConfig): boolean {
  const url = new URL(database.url);
  // node-postgres takes no host, or a path, for a local socket.
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  const isLocal = host === '' || host.startsWith('/') || isLocalHost(host);
  return !isLocal && postgresConnection(database).ssl === false;
}

function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(host)) return host === 'localhost' || host.endsWith('.localhost');
  return ipaddr.process(host).range() === 'loopback';
}
