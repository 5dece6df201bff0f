import { generateKeyPairSync } from 'node:crypto';
import { FACILITATOR_LIMITS } from '../actors/facilitator-limits.js';
import type { Links } from './links.js';

/** Shorter than the longest freezes. */
export const QUERY_TIMEOUT_MS = 3000;
export const SETTLE_TIMEOUT_MS = 4000;
export const METRICS_TOKEN = 'chaos-metrics';

/** The environment of each service process, by its name: proxies of its own, and a key that identifies it. */
export function serviceVariables(
  seed: number,
  links: Links,
  facilitatorUrl: string,
): (name: string) => Record<string, string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const secret = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
  const shared = {
    FACILITATOR_URL: facilitatorUrl,
    FACILITATOR_SECRET: `svc_sk_${secret}`,
    BASE_URL: 'https://pay.example',
    ENCRYPTION_KEY: Buffer.alloc(32, seed % 256).toString('base64'),
    DATABASE_QUERY_TIMEOUT_MS: String(QUERY_TIMEOUT_MS),
    FACILITATOR_TIMEOUT_MS: '2000',
    FACILITATOR_SETTLE_TIMEOUT_MS: String(SETTLE_TIMEOUT_MS),
    FACILITATOR_MAX_PER_SECOND: String(FACILITATOR_LIMITS.perSecond),
    FACILITATOR_MAX_CONNECTIONS: String(FACILITATOR_LIMITS.connections),
    SETTLE_WAIT_MS: '4000',
    RATE_LIMIT_API_PER_SECOND: '100000',
    RATE_LIMIT_LINK_PER_MINUTE: '1000000',
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
    METRICS_TOKEN,
  };
  return (name) => ({
    ...shared,
    DATABASE_URL: links.url(name, 'Postgres'),
    REDIS_URL: links.url(name, 'Redis'),
    CHAOS_FACILITATOR_PORTS: `${portOf(facilitatorUrl)}:${portOf(links.url(name, 'the facilitator'))}`,
    FACILITATOR_KEY_ID: name,
    RPC_URL_EIP155_84532: links.url(name, 'the EVM chain'),
    RPC_URL_SOLANA_DEVNET: links.url(name, 'the Solana chain'),
  });
}

function portOf(url: string): string {
  return new URL(url).port;
}
