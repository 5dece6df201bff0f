import { createHash } from 'node:crypto';
import { AUTH_KINDS, explainSecret, type FacilitatorAuth } from '../secrets/facilitator-secret.js';
import { parseUrl } from '../values/parse-url.js';
import type { EnvReader } from './env-reader.js';

export interface FacilitatorConfig {
  /** Its short name in rows, log lines and metrics. It is made of the URL, so that another order leaves it as it is. */
  name: string;
  /** All names that other settings beside it would give it, which rows of payments may have. */
  names?: readonly string[];
  /** The variable that names it. */
  variable: string;
  url: string;
  auth: FacilitatorAuth;
  timeoutMs: number;
  settleTimeoutMs: number;
  /** Limits over all processes together; undefined: no limit. */
  maxConnections?: number | undefined;
  maxPerSecond?: number | undefined;
}

type Unnamed = Omit<FacilitatorConfig, 'name' | 'names'>;

/** FACILITATOR_URL, FACILITATOR_URL_2 and so on. */
const SUFFIXES = ['', '_2', '_3', '_4', '_5', '_6', '_7', '_8', '_9'] as const;
const OF_ONE = ['URL', 'AUTH', 'KEY_ID', 'SECRET', 'MAX_PER_SECOND', 'MAX_CONNECTIONS'] as const;

export interface Facilitators {
  /** The facilitators in the order of preference. Empty only in a process that needs none. */
  facilitators: readonly FacilitatorConfig[];
  /** One timeout for all of them. */
  settleTimeoutMs: number;
}

export function readFacilitators(env: EnvReader, required: boolean): Facilitators {
  const timeouts = {
    timeoutMs: env.integer('FACILITATOR_TIMEOUT_MS', { default: 8000, min: 100, max: 120_000 }),
    settleTimeoutMs: env.integer('FACILITATOR_SETTLE_TIMEOUT_MS', {
      default: 30_000,
      min: 100,
      max: 300_000,
    }),
  };
  refuseOtherNumbers(env);
  const all: Unnamed[] = [];
  for (const [index, suffix] of SUFFIXES.entries()) {
    const one = readOne(
      env,
      { suffix, before: SUFFIXES[index - 1], required },
      { ...timeouts, first: all[0] },
    );
    if (one === undefined) continue;
    const same = all.find((other) => placeOf(other) === placeOf(one) && keyOf(other) === keyOf(one));
    if (same !== undefined)
      env.problems.push(
        `${one.variable} is the same facilitator with the same key as ${same.variable}: remove one of them.`,
      );
    all.push(one);
  }
  const { settleTimeoutMs } = timeouts;
  const named = all.map((one) => ({ ...one, name: nameOf(one, all), names: namesOf(one) }));
  return { facilitators: named, settleTimeoutMs };
}

function refuseOtherNumbers(env: EnvReader): void {
  const numbered = new RegExp(`^FACILITATOR_(?:${OF_ONE.join('|')})(_\\d+)$`);
  for (const name of env.names()) {
    const suffix = numbered.exec(name)?.[1];
    if (suffix !== undefined && !SUFFIXES.some((known) => known === suffix))
      env.problems.push(
        `${name} is not read: the first facilitator has no number, and the others have the numbers 2 to ${SUFFIXES.length}.`,
      );
  }
}

interface Place {
  suffix: string;
  /** The suffix of the facilitator before this one. */
  before: string | undefined;
  required: boolean;
}

interface Common {
  timeoutMs: number;
  settleTimeoutMs: number;
  first: Unnamed | undefined;
}

/** Undefined when the place is not set. Limits that are not set are the first facilitator's. */
function readOne(env: EnvReader, place: Place, { first, ...timeouts }: Common): Unnamed | undefined {
  const { suffix } = place;
  const variable = `FACILITATOR_URL${suffix}`;
  if (!isPlaced(env, place)) return undefined;
  const limit = { min: 1, max: 100_000 };
  const settings = {
    variable,
    auth: readAuth(env, suffix),
    ...timeouts,
    maxConnections:
      env.optionalInteger(`FACILITATOR_MAX_CONNECTIONS${suffix}`, limit) ?? first?.maxConnections,
    maxPerSecond: env.optionalInteger(`FACILITATOR_MAX_PER_SECOND${suffix}`, limit) ?? first?.maxPerSecond,
  };
  const url = env.baseUrl(variable, { login: false });
  return url === undefined ? undefined : { url, ...settings };
}

/** Whether there is a facilitator in this place; a gap, and a setting without its URL, are problems. */
function isPlaced(env: EnvReader, { suffix, before, required }: Place): boolean {
  const variable = `FACILITATOR_URL${suffix}`;
  if (before === undefined) {
    if (required && env.text(variable) === undefined) env.problems.push(`${variable} is missing.`);
    return true;
  }
  if (env.text(variable) === undefined) {
    const lone = OF_ONE.map((part) => `FACILITATOR_${part}${suffix}`).filter(
      (name) => env.text(name) !== undefined,
    );
    for (const name of lone)
      env.problems.push(`${name} is set without ${variable}: set ${variable}, or remove ${name}.`);
    return false;
  }
  const previous = `FACILITATOR_URL${before}`;
  if (env.text(previous) === undefined)
    env.problems.push(`${variable} is set without ${previous}: number the facilitators without a gap.`);
  return true;
}

/** The URL's host, with its path where another has the same host, and its key where another has the same URL. */
function nameOf(one: Unnamed, all: readonly Unnamed[]): string {
  const isAlone = (part: (each: Unnamed) => string): boolean =>
    all.every((other) => other === one || part(other) !== part(one));
  if (isAlone(hostOf)) return hostOf(one);
  return isAlone(placeOf) ? placeOf(one) : longestNameOf(one);
}

function namesOf(one: Unnamed): string[] {
  return [hostOf(one), placeOf(one), longestNameOf(one)];
}

function longestNameOf(one: Unnamed): string {
  return one.auth.kind === 'none' ? placeOf(one) : `${placeOf(one)} (${keyOf(one)})`;
}

function hostOf({ url }: Unnamed): string {
  return parseUrl(url)?.host ?? url;
}

function placeOf({ url }: Unnamed): string {
  const { host = url, pathname = '' } = parseUrl(url) ?? {};
  return `${host}${pathname.replace(/\/+$/, '')}`;
}

/** A bearer token has no name and is secret: a part of its hash stands for it. */
function keyOf({ auth }: Unnamed): string {
  if (auth.kind === 'none') return '';
  return 'id' in auth ? auth.id : createHash('sha256').update(auth.secret).digest('hex').slice(0, 12);
}

function readAuth(env: EnvReader, suffix: string): FacilitatorAuth {
  const authName = `FACILITATOR_AUTH${suffix}`;
  const idName = `FACILITATOR_KEY_ID${suffix}`;
  const secretName = `FACILITATOR_SECRET${suffix}`;
  const named = env.text(authName);
  const kind = env.choice(authName, AUTH_KINDS, 'svc');
  const id = env.text(idName);
  const secret = env.text(secretName);
  const none = { kind: 'none' } as const;
  // A word that is no kind is a problem by itself, and says nothing about the key.
  if (kind === 'none' || (named !== undefined && named !== kind)) return none;
  if (kind === 'bearer') {
    if (secret !== undefined && isHeaderText(secret)) return { kind, secret };
    env.problems.push(`${authName} is bearer: set ${secretName} to the token, without blanks or line ends.`);
    return none;
  }
  if (id === undefined && secret === undefined && named === undefined) return none;
  if (id === undefined || secret === undefined) {
    const [here, missing] = id === undefined ? [secretName, idName] : [idName, secretName];
    const both = `set ${idName} and ${secretName}, which belong together.`;
    env.problems.push(
      id === undefined && secret === undefined
        ? `${authName} is ${kind}: ${both}`
        : `${here} is set without ${missing}: set both or neither.`,
    );
    return none;
  }
  const problem = explainSecret(kind, secret);
  if (problem !== undefined) env.problems.push(`${secretName} ${problem}`);
  return { kind, id, secret };
}

function isHeaderText(text: string): boolean {
  return /^[!-~]+$/.test(text);
}
