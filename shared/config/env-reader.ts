import { isIP } from 'node:net';
import { parseUrl } from '../values/parse-url.js';
import { ENCODED, isCutByPassword, isPercentEncoded } from './percent-encoding.js';
import { parseRedisUrl } from './redis-url.js';

interface Bounds {
  min: number;
  max: number;
}

/** The URL parser takes commas, semicolons and quotation marks into a host, where no name of a host has them. */
const HOST = /^(\[[\da-f:.]+\]|[\w.-]+)$/i;

/** Reads one variable at a time and collects the problems, so that a failed start lists all of them. */
export class EnvReader {
  readonly problems: string[] = [];
  private readonly environment: Record<string, string | undefined>;

  constructor(environment: Record<string, string | undefined>) {
    this.environment = environment;
  }

  /** The value without the quotation marks around it, which are a problem. */
  text(name: string): string | undefined {
    const value = this.valueOf(name);
    const quoted = /^(["'])(.*)\1$/s.exec(value ?? '');
    if (quoted === null) return value;
    const problem = `${name} is in quotation marks, which docker --env-file and systems like it keep: write the value without them.`;
    if (!this.problems.includes(problem)) this.problems.push(problem);
    return quoted[2];
  }

  /** An empty variable counts as not set: platforms and .env files cannot unset one. */
  private valueOf(name: string): string | undefined {
    const value = this.environment[name]?.trim();
    return value === '' ? undefined : value;
  }

  /** The names of all variables that are set. */
  names(): string[] {
    return Object.keys(this.environment).filter((name) => this.valueOf(name) !== undefined);
  }

  password(name: string, minLength: number): string | undefined {
    const text = this.text(name);
    if (text !== undefined && [...text].length < minLength) {
      this.problems.push(
        `${name} must have at least ${minLength} characters in production (openssl rand -base64 24).`,
      );
    }
    return text;
  }

  optionalInteger(name: string, { min, max }: Bounds): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    this.problems.push(`${name} must be a whole number from ${min} to ${max}; it is "${text}".`);
    return undefined;
  }

  integer(name: string, { default: fallback, ...bounds }: Bounds & { default: number }): number {
    return this.optionalInteger(name, bounds) ?? fallback;
  }

  boolean(name: string, fallback: boolean): boolean {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (text === 'true' || text === 'false') return text === 'true';
    this.problems.push(`${name} must be true or false; it is "${text}".`);
    return fallback;
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const text = this.text(name);
    if (text === undefined) return fallback;
    const choice = choices.find((candidate) => candidate === text);
    if (choice !== undefined) return choice;
    this.problems.push(`${name} must be one of ${choices.join(', ')}; it is "${text}".`);
    return fallback;
  }

  list<T extends string>(name: string, choices: readonly T[]): T[] | undefined {
    const words = this.text(name)
      ?.split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '');
    if (words === undefined) return undefined;
    const known = choices.filter((choice) => words.includes(choice));
    const unknown = words.filter((word) => !choices.some((choice) => choice === word));
    if (unknown.length > 0 || known.length === 0) {
      this.problems.push(`${name} must list some of ${choices.join(', ')}; it is "${words.join(',')}".`);
    }
    return known;
  }

  /** Problems do not quote the value: database and Redis URLs hold passwords. */
  url(name: string, protocols: readonly string[]): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const url = parseUrl(text);
    if (url === undefined || !protocols.includes(url.protocol)) {
      const starts = protocols.map((protocol) => `${protocol}//`).join(' or ');
      this.problems.push(`${name} must be a URL that starts with ${starts}.`);
    } else if (/\s/.test(text) || !HOST.test(url.hostname)) {
      this.problems.push(
        `${name} must be one URL, without blanks and line ends, and with letters, digits, dots and hyphens only in its host.`,
      );
    } else return text;
    return undefined;
  }

  requiredUrl(name: string, protocols: readonly string[]): string {
    if (this.text(name) === undefined) this.problems.push(`${name} is missing.`);
    return this.url(name, protocols) ?? '';
  }

  /** node-postgres would look up the host of a URL that a password has cut short, and name that part of it in its error. */
  postgresUrl(name: string): string | undefined {
    const text = this.text(name);
    const isPostgres = text !== undefined && /^postgres(ql)?:\/\//i.test(text);
    if (!isPostgres) return this.url(name, ['postgres:', 'postgresql:']);
    const url = parseUrl(text);
    if (url !== undefined && isPercentEncoded(url.hostname) && !isCutByPassword(url)) return text;
    this.problems.push(
      `${name} is not a complete URL: it needs one host, and user, password and host percent-encoded (${ENCODED}).`,
    );
    return undefined;
  }

  requiredPostgresUrl(name: string): string {
    if (this.text(name) === undefined) this.problems.push(`${name} is missing.`);
    return this.postgresUrl(name) ?? '';
  }

  /** A URL that paths are added to, without a slash at its end. `login`: whether its user and password are sent. */
  baseUrl(name: string, { login }: { login: boolean }): string | undefined {
    const text = this.url(name, ['http:', 'https:']);
    if (text === undefined) return undefined;
    const { username = '', password = '' } = parseUrl(text) ?? {};
    if (!/[?#]/.test(text) && (login || username + password === '')) return text.replace(/\/+$/, '');
    const unwanted = login ? 'a query or a fragment' : 'a query, a fragment, a user or a password';
    this.problems.push(`${name} must be scheme, host and port, and at most a path, without ${unwanted}.`);
    return undefined;
  }

  redisUrl(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const parsed = parseRedisUrl(text);
    if (typeof parsed !== 'string') return text;
    this.problems.push(`${name} ${parsed}`);
    return undefined;
  }

  /** A family of variables with one per network, such as RPC_URL_EIP155_8453 or CONFIRMATIONS_SOLANA_DEVNET. */
  perNetwork<T>(prefix: string, read: (name: string) => T): Map<string, T> {
    const values = new Map<string, T>();
    for (const name of this.names()) {
      if (!name.startsWith(prefix)) continue;
      const network = name.slice(prefix.length);
      if (/^(EIP155_[1-9]\d*|SOLANA|SOLANA_DEVNET)$/.test(network)) values.set(network, read(name));
      else
        this.problems.push(
          `${name} does not name a network: use ${prefix}EIP155_<chain id>, ${prefix}SOLANA or ${prefix}SOLANA_DEVNET.`,
        );
    }
    return values;
  }

  /** An address to listen on. Whether it is this machine's shows when the process listens. */
  address(name: string): string | undefined {
    const text = this.text(name);
    if (text === undefined || text === 'localhost' || isIP(text) !== 0) return text;
    this.problems.push(
      `${name} must be an address of this machine, such as 127.0.0.1 or ::1, or localhost; it is "${text}".`,
    );
    return undefined;
  }

  /** Express's `trust proxy`: a number of hops, true, false, or addresses. */
  trustProxy(name: string): boolean | number | string {
    const text = this.text(name);
    if (text === undefined || text === 'false') return false;
    if (text === 'true') return true;
    if (/^\d{1,3}$/.test(text)) return Number(text);
    if (text.split(',').every((entry) => isTrustable(entry.trim()))) return text;
    this.problems.push(
      `${name} must be a number of proxies, true, false, or a comma-separated list of addresses; it is "${text}".`,
    );
    return false;
  }
}

const NAMED_RANGES = ['loopback', 'linklocal', 'uniquelocal'];

/** Express throws at an address that is not whole, at a prefix of 0, and at most IPv6 addresses that end like an IPv4 address. */
function isTrustable(entry: string): boolean {
  if (NAMED_RANGES.includes(entry)) return true;
  const [address = '', prefix, ...more] = entry.split('/');
  const version = isIP(address);
  const isWhole = version === 4 || (version === 6 && /^(::ffff:[\d.]+|[^.]+)$/i.test(address));
  if (!isWhole || more.length > 0) return false;
  return (
    prefix === undefined || (/^[1-9]\d{0,2}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
  );
}
