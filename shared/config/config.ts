import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { JOB_NAMES, type JobName } from '../jobs/jobs.js';
import { hasCode } from '../process/error-code.js';
import { parseEd25519Key } from '../secrets/ed25519-key.js';
import { EnvReader } from './env-reader.js';
import { type Facilitators, readFacilitators } from './read-facilitators.js';

/**
 * The only reader of process.env. Each process names its role and gets the settings of that role, checked and frozen
 * before anything else starts. A ConfigError lists all problems at once.
 */
export type Role = 'web' | 'worker' | 'migrate' | 'cli';

export interface DatabaseConfig {
  url: string;
  poolSize: number;
  verifyTls: boolean;
  preparedStatements: boolean;
  /** A statement that takes longer fails, and its connection is destroyed. */
  queryTimeoutMs: number;
}

export interface RedisConfig {
  url: string;
  verifyTls: boolean;
}

export interface Config extends Facilitators {
  production: boolean;
  /** NODE_ENV as it is set. */
  environment: string | undefined;
  logLevel: string;
  port: number;
  /** The address that web listens on; undefined: every address. */
  host: string | undefined;
  baseUrl: string;
  database: DatabaseConfig;
  /** A standby for merchants' reads, with the other settings of `database`. */
  replica: DatabaseConfig | undefined;
  /** Undefined: the queue and the rate limits live in Postgres. */
  redis: RedisConfig | undefined;
  /** The first key encrypts, all keys decrypt. */
  encryptionKeys: Buffer[];
  /** The first key signs, all keys are published. */
  receiptSigningKeys: readonly KeyObject[];
  settleWaitMs: number;
  /** Keys are network names as in the environment, such as EIP155_8453 or SOLANA_DEVNET. */
  confirmations: ReadonlyMap<string, number>;
  rpcUrls: ReadonlyMap<string, string>;
  /** Addresses of a transaction's page, with `{tx}` in its place. */
  explorerUrls: ReadonlyMap<string, string>;
  /** Whether a link offers a Solana token only when the merchant's wallet has a token account for it. */
  checkTokenAccounts: boolean;
  apiRequestsPerSecond: number;
  linkRequestsPerMinute: number;
  /** The limit of the whole header block of an answer at a link. */
  responseHeaderMaxBytes: number;
  /** Whether web serves the merchants' dashboard. */
  dashboard: boolean;
  trustProxy: boolean | number | string;
  /** TRUST_PROXY says something, if only that there is no proxy. */
  trustProxyIsSet: boolean;
  allowPrivateWebhooks: boolean;
  /** A script that announces wallets to the payment page; for development only. */
  pageScriptUrl: string | undefined;
  workerQueues: readonly JobName[];
  workerConcurrency: number;
  metricsToken: string | undefined;
  workerMetricsPort: number | undefined;
  adminPassword: string | undefined;
  /** The OTLP endpoint for spans; undefined: tracing is off. */
  tracesUrl: string | undefined;
  /** Age at which finished sessions lose their buyer's personal data; undefined: never. */
  retentionPersonalDays: number | undefined;
  /** How often a worker holds the books against the chains; undefined: never. */
  reconcileEveryHours: number | undefined;
  /** Size of the disk with Postgres' tables, for the alert; Postgres does not know it. */
  databaseDiskBytes: number | undefined;
}

/** Used outside production when ENCRYPTION_KEY is not set; a warning says so. */
const DEVELOPMENT_KEY = Buffer.from('stablecoin-checkout development!');

/** Minimum length in production of the passwords of operators' pages. */
const MIN_PASSWORD_LENGTH = 16;

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export function isProduction(): boolean {
  return process.env.NODE_ENV?.trim() === 'production';
}

export function isSet(name: string): boolean {
  return (process.env[name] ?? '').trim() !== '';
}

/** Reads `.env` in the working directory. Variables that are already set win. */
export function readEnvFile(): void {
  let text: string;
  try {
    text = readFileSync('.env', 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return;
    throw new ConfigError(`.env cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  for (const [name, value] of Object.entries(parseEnv(text))) if (!isSet(name)) process.env[name] = value;
}

/** `defaults` apply to variables that are not set. */
export function readConfig(role: Role, defaults: Record<string, string> = {}): Config {
  const set = Object.entries(process.env).filter(([name]) => isSet(name));
  return loadConfig({ ...defaults, ...Object.fromEntries(set) }, role);
}

export function loadConfig(environment: Record<string, string | undefined>, role: Role): Config {
  const env = new EnvReader(environment);
  const serves = role === 'web' || role === 'worker';
  const production = env.text('NODE_ENV') === 'production';
  const minPasswordLength = production && serves ? MIN_PASSWORD_LENGTH : 1;
  const port = env.integer('PORT', { default: 3000, min: 0, max: 65535 });
  const config: Config = {
    production,
    environment: env.text('NODE_ENV'),
    logLevel: env.choice('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], 'info'),
    port,
    host: env.address('HOST'),
    baseUrl: env.baseUrl('BASE_URL', { login: false }) ?? `http://localhost:${port}`,
    ...readDatabases(env),
    redis: readRedis(env),
    ...readFacilitators(env, serves),
    encryptionKeys: readEncryptionKeys(env, production && serves),
    receiptSigningKeys: readReceiptSigningKeys(env),
    settleWaitMs: env.integer('SETTLE_WAIT_MS', { default: 15_000, min: 0, max: 120_000 }),
    confirmations: env.perNetwork('CONFIRMATIONS_', (name) =>
      env.integer(name, { default: 0, min: 0, max: mostConfirmations(name) }),
    ),
    rpcUrls: env.perNetwork('RPC_URL_', (name) => env.requiredUrl(name, ['http:', 'https:'])),
    explorerUrls: env.perNetwork('EXPLORER_URL_', (name) => readExplorerUrl(env, name)),
    checkTokenAccounts: env.boolean('CHECK_TOKEN_ACCOUNTS', true),
    apiRequestsPerSecond: env.integer('RATE_LIMIT_API_PER_SECOND', { default: 100, min: 1, max: 1_000_000 }),
    linkRequestsPerMinute: env.integer('RATE_LIMIT_LINK_PER_MINUTE', {
      default: 600,
      min: 1,
      max: 10_000_000,
    }),
    responseHeaderMaxBytes: env.integer('RESPONSE_HEADER_MAX_BYTES', {
      default: 4096,
      min: 1024,
      max: 65_536,
    }),
    dashboard: env.boolean('DASHBOARD', true),
    trustProxy: env.trustProxy('TRUST_PROXY'),
    trustProxyIsSet: env.text('TRUST_PROXY') !== undefined,
    allowPrivateWebhooks: env.boolean('WEBHOOK_ALLOW_PRIVATE_NETWORKS', false),
    pageScriptUrl: readPageScript(env, production),
    workerQueues: env.list('WORKER_QUEUES', JOB_NAMES) ?? JOB_NAMES,
    workerConcurrency: env.integer('WORKER_CONCURRENCY', { default: 20, min: 1, max: 1000 }),
    metricsToken: env.password('METRICS_TOKEN', minPasswordLength),
    workerMetricsPort: env.optionalInteger('WORKER_METRICS_PORT', { min: 1, max: 65535 }),
    adminPassword: env.password('ADMIN_PASSWORD', minPasswordLength),
    tracesUrl: readTracesUrl(env),
    retentionPersonalDays: env.optionalInteger('RETENTION_PERSONAL_DAYS', { min: 1, max: 36_500 }),
    reconcileEveryHours: env.optionalInteger('RECONCILE_EVERY_HOURS', { min: 1, max: 720 }),
    databaseDiskBytes: env.optionalInteger('DATABASE_DISK_BYTES', { min: 1, max: Number.MAX_SAFE_INTEGER }),
  };
  if (env.problems.length > 0) {
    throw new ConfigError(
      `The environment is not usable:\n${env.problems.map((line) => `  ${line}`).join('\n')}`,
    );
  }
  return Object.freeze(config);
}

function readDatabases(env: EnvReader): Pick<Config, 'database' | 'replica'> {
  const database: DatabaseConfig = {
    url: env.requiredPostgresUrl('DATABASE_URL'),
    poolSize: env.integer('DATABASE_POOL_SIZE', { default: 10, min: 1, max: 1000 }),
    verifyTls: env.boolean('DATABASE_TLS_VERIFY', true),
    preparedStatements: env.boolean('DATABASE_PREPARED_STATEMENTS', true),
    queryTimeoutMs: env.integer('DATABASE_QUERY_TIMEOUT_MS', { default: 30_000, min: 100, max: 600_000 }),
  };
  const replicaUrl = env.postgresUrl('DATABASE_REPLICA_URL');
  return { database, replica: replicaUrl === undefined ? undefined : { ...database, url: replicaUrl } };
}

/** OTEL_EXPORTER_OTLP_ENDPOINT is the base of all signals; OTLP puts traces at /v1/traces below it. */
function readTracesUrl(env: EnvReader): string | undefined {
  const endpoint = env.baseUrl('OTEL_EXPORTER_OTLP_ENDPOINT', { login: true });
  return endpoint && `${endpoint}/v1/traces`;
}

function readRedis(env: EnvReader): RedisConfig | undefined {
  const url = env.redisUrl('REDIS_URL');
  const verifyTls = env.boolean('REDIS_TLS_VERIFY', true);
  return url === undefined ? undefined : { url, verifyTls };
}

function readExplorerUrl(env: EnvReader, name: string): string {
  const url = env.requiredUrl(name, ['http:', 'https:']);
  if (url !== '' && !url.includes('{tx}'))
    env.problems.push(`${name} must have {tx} in the transaction's place.`);
  return url;
}

/** Solana has two commitment levels: 1 is confirmed, 2 is finalized. */
function mostConfirmations(name: string): number {
  return name.startsWith('CONFIRMATIONS_SOLANA') ? 2 : 1000;
}

/** The script sees everything that the page's wallets see, so production refuses it. */
function readPageScript(env: EnvReader, production: boolean): string | undefined {
  const url = env.url('PAGE_SCRIPT_URL', ['http:', 'https:']);
  if (url !== undefined && production) {
    env.problems.push('PAGE_SCRIPT_URL is for development: unset it where NODE_ENV is production.');
  }
  return url;
}

function readEncryptionKeys(env: EnvReader, required: boolean): Buffer[] {
  const text = env.text('ENCRYPTION_KEY');
  if (text === undefined) {
    if (required) {
      env.problems.push(
        'ENCRYPTION_KEY is missing: set it to 32 random bytes in base64 (openssl rand -base64 32).',
      );
    }
    return [DEVELOPMENT_KEY];
  }
  const keys = text.split(',').map((part) => Buffer.from(part.trim(), 'base64'));
  if (keys.some((key) => key.length !== 32)) {
    env.problems.push(
      'ENCRYPTION_KEY must be 32 bytes in base64 (openssl rand -base64 32); while a key is rotated, the new one, a comma, the old one.',
    );
  }
  return keys;
}

function readReceiptSigningKeys(env: EnvReader): KeyObject[] {
  const parts = env.text('RECEIPT_SIGNING_KEYS')?.split(',') ?? [];
  try {
    const keys = parts.map(parseEd25519Key);
    const isTwice = keys.some((key, index) => keys.findIndex((other) => other.equals(key)) !== index);
    if (isTwice) env.problems.push('RECEIPT_SIGNING_KEYS holds the same key twice: remove one copy.');
    return keys;
  } catch {
    env.problems.push(
      'RECEIPT_SIGNING_KEYS must be Ed25519 private keys in base64 PKCS#8 DER (openssl genpkey -algorithm ed25519 -outform DER | base64), with commas between: the first signs.',
    );
    return [];
  }
}

export function usesDevelopmentKey(config: Config): boolean {
  return config.encryptionKeys[0] === DEVELOPMENT_KEY;
}
