import ipaddr from 'ipaddr.js';
import type { Config, DatabaseConfig } from '../config/config.js';
import { postgresConnection } from '../db/connection.js';
import type { Logger } from '../process/logger.js';

/** A valid setting that is unsafe in production. `hint` says what it allows and how to change it. */
export interface RiskySetting {
  event: string;
  hint: string;
}

/** Logs one line per risky setting at the start of a production process. */
export function warnAboutRiskySettings(config: Config, logger: Logger): void {
  if (config.production) for (const setting of findRiskySettings(config)) logger.warn(setting);
}

export function findRiskySettings(config: Config): RiskySetting[] {
  return [
    ...risksOfBaseUrl(config.baseUrl),
    ...(config.trustProxy === true ? [TRUSTS_EVERY_PROXY] : []),
    ...(config.allowPrivateWebhooks ? [PRIVATE_WEBHOOKS] : []),
    ...(isRemoteWithoutTls(config.database) ? [plainPostgres('DATABASE_URL')] : []),
    ...(config.replica && isRemoteWithoutTls(config.replica) ? [plainPostgres('DATABASE_REPLICA_URL')] : []),
  ];
}

const TRUSTS_EVERY_PROXY: RiskySetting = {
  event: 'config.trusts_every_proxy',
  hint: 'TRUST_PROXY=true trusts every X-Forwarded-For header: clients can choose their address and evade the limits per address. Set the number of proxies, or their addresses.',
};
const PRIVATE_WEBHOOKS: RiskySetting = {
  event: 'config.private_webhooks',
  hint: 'WEBHOOK_ALLOW_PRIVATE_NETWORKS=true lets merchants send requests to every address that this host reaches, including your own network and the cloud metadata service. Unset it.',
};
const plainPostgres = (variable: string): RiskySetting => ({
  event: 'config.plain_postgres',
  hint: `${variable} names another host without TLS: anyone on the network path can read and change all stored data. Add sslmode=require to it.`,
});

function risksOfBaseUrl(baseUrl: string): RiskySetting[] {
  const { protocol, hostname } = new URL(baseUrl);
  if (isLocalHost(hostname)) {
    return [
      {
        event: 'config.local_base_url',
        hint: `BASE_URL is not set, or names this host: links start with ${baseUrl}, which buyers cannot open. Set it to the public address.`,
      },
    ];
  }
  if (protocol === 'https:') return [];
  return [
    {
      event: 'config.plain_base_url',
      hint: 'BASE_URL is http: anyone on the network path can read API keys and change the wallet that a buyer pays to. Set an https address.',
    },
  ];
}

function isRemoteWithoutTls(database: DatabaseConfig): boolean {
  const url = new URL(database.url);
  // As in node-postgres: no host, or a path, is a local socket.
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  const isLocal = host === '' || host.startsWith('/') || isLocalHost(host);
  return !isLocal && postgresConnection(database).ssl === false;
}

function isLocalHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(host)) return host === 'localhost' || host.endsWith('.localhost');
  return ipaddr.process(host).range() === 'loopback';
}
