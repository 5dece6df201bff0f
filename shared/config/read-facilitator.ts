import { AUTH_KINDS, explainSecret, type FacilitatorAuth } from '../secrets/facilitator-secret.js';
import type { EnvReader } from './env-reader.js';

export interface FacilitatorConfig {
  url: string;
  auth: FacilitatorAuth;
  timeoutMs: number;
  settleTimeoutMs: number;
  /** Limits over all processes together; undefined: no limit. */
  maxConnections?: number | undefined;
  maxPerSecond?: number | undefined;
}

const PROTOCOLS = ['http:', 'https:'];

export function readFacilitator(env: EnvReader, required: boolean): FacilitatorConfig {
  const url = required
    ? env.requiredUrl('FACILITATOR_URL', PROTOCOLS)
    : (env.url('FACILITATOR_URL', PROTOCOLS) ?? '');
  return {
    url: url.replace(/\/+$/, ''),
    auth: readAuth(env),
    timeoutMs: env.integer('FACILITATOR_TIMEOUT_MS', { default: 8000, min: 100, max: 120_000 }),
    settleTimeoutMs: env.integer('FACILITATOR_SETTLE_TIMEOUT_MS', {
      default: 30_000,
      min: 100,
      max: 300_000,
    }),
    maxConnections: env.optionalInteger('FACILITATOR_MAX_CONNECTIONS', { min: 1, max: 100_000 }),
    maxPerSecond: env.optionalInteger('FACILITATOR_MAX_PER_SECOND', { min: 1, max: 100_000 }),
  };
}

function readAuth(env: EnvReader): FacilitatorAuth {
  const isNamed = env.text('FACILITATOR_AUTH') !== undefined;
  const kind = env.choice('FACILITATOR_AUTH', AUTH_KINDS, 'svc');
  const id = env.text('FACILITATOR_KEY_ID');
  const secret = env.text('FACILITATOR_SECRET');
  const none = { kind: 'none' } as const;
  if (kind === 'none') return none;
  if (kind === 'bearer') {
    if (secret !== undefined && isHeaderText(secret)) return { kind, secret };
    env.problems.push(
      'FACILITATOR_AUTH is bearer: set FACILITATOR_SECRET to the token, without blanks or line ends.',
    );
    return none;
  }
  if (id === undefined && secret === undefined && !isNamed) return none;
  if (id === undefined || secret === undefined) {
    const [here, missing] =
      id === undefined
        ? ['FACILITATOR_SECRET', 'FACILITATOR_KEY_ID']
        : ['FACILITATOR_KEY_ID', 'FACILITATOR_SECRET'];
    const both = 'set FACILITATOR_KEY_ID and FACILITATOR_SECRET, which belong together.';
    env.problems.push(
      id === undefined && secret === undefined
        ? `FACILITATOR_AUTH is ${kind}: ${both}`
        : `${here} is set without ${missing}: set both or neither.`,
    );
    return none;
  }
  const problem = explainSecret(kind, secret);
  if (problem !== undefined) env.problems.push(`FACILITATOR_SECRET ${problem}`);
  return { kind, id, secret };
}

function isHeaderText(text: string): boolean {
  return /^[!-~]+$/.test(text);
}
