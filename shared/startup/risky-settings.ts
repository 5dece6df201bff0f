import ipaddr from 'ipaddr.js';
import type { Config, DatabaseConfig } from '../config/config.js';
import { postgresConnection } from '../db/connection.js';
import type { Logger } from '../process/logger.js';

/** A setting that is lawful and that no merchant would want: `hint` says what it lets happen. */
export interface RiskySetting {
  event: string;
  hint: string;
}

/** One line each, when production starts with it. */
export function warnAboutRiskySettings(config: Config, logger: Logger): void {
  if (config.production) for (const danger of findRiskySettings(config)) logger.warn(danger);
}

export function findRiskySettings(config: Config): RiskySetting[] {
  return [
    ...dangersOfAddress(config.baseUrl),
    ...(config.trustProxy === true ? [TRUSTS_EVERY_PROXY] : []),
    ...(config.allowPrivateWebhooks ? [PRIVATE_WEBHOOKS] : []),
    ...(isPlainElsewhere(config.database) ? [plainPostgres('DATABASE_URL')] : []),
    ...(config.replica && isPlainElsewhere(config.replica) ? [plainPostgres('DATABASE_REPLICA_URL')] : []),
  ];
}

const TRUSTS_EVERY_PROXY: RiskySetting = {
  event: 'config.trusts_every_proxy',
  hint: 'TRUST_PROXY=true believes whatever X-Forwarded-For says: anybody names an address of their own, and no limit per address holds. Set the number of proxies, or their addresses.',
};
const PRIVATE_WEBHOOKS: RiskySetting = {
  event: 'config.private_webhooks',
  hint: 'WEBHOOK_ALLOW_PRIVATE_NETWORKS=true lets merchants send requests to every address that this machine reaches, those of your own network and of its metadata service too. Unset it.',
};
const plainPostgres = (variable: string): RiskySetting => ({
  event: 'config.plain_postgres',
  hint: `${variable} names another host without TLS: whoever is between reads and changes all that is stored. Add sslmode=require to it.`,
});

function dangersOfAddress(baseUrl: string): RiskySetting[] {
  const { protocol, hostname } = new URL(baseUrl);
  if (isThisMachine(hostname)) {
    return [
      {
        event: 'config.local_base_url',
        hint: `BASE_URL is not set, or names this machine: links say ${baseUrl}, which no buyer can open. Set it to the public address.`,
      },
    ];
  }
  if (protocol === 'https:') return [];
  return [
    {
      event: 'config.plain_base_url',
      hint: 'BASE_URL is http: whoever is between reads keys, and changes where a buyer pays to. Set an https address.',
    },
  ];
}

function isPlainElsewhere(database: DatabaseConfig): boolean {
  const url = new URL(database.url);
  // As node-postgres has it; nothing, and a path, is a socket of this machine.
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname);
  const isHere = host === '' || host.startsWith('/') || isThisMachine(host);
  return !isHere && postgresConnection(database).ssl === false;
}

function isThisMachine(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (!ipaddr.isValid(host)) return host === 'localhost' || host.endsWith('.localhost');
  return ipaddr.process(host).range() === 'loopback';
}
