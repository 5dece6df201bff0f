import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

export interface ChaosOptions {
  /** The number of sessions to open and pay. */
  payments: number;
  seed: number;
  /** The longest time for which faults are injected. */
  minutes: number;
  /** The share of buyers that pay on Solana. */
  solana: number;
  /** Standbys are promoted without the last commits. */
  failovers: boolean;
  /** The clocks of Postgres, Redis and hosts are set during the run. */
  clocks: boolean;
  /** The chains' endpoints answer few calls a second, all the time. */
  limits: boolean;
  /** All purchases cost the same, and a few wallets pay all purchases and refunds. */
  alike: boolean;
  /** Makes one of two facilitators be away, lie or be slow, instead of these faults. */
  facilitators: boolean;
  /** Measures the load that an account and an address can put on others, instead of these faults. */
  weight: boolean;
  /** How long each heavy operation is measured. */
  seconds: number;
  /** Measures only all heavy operations at once. */
  mixture: boolean;
  /** Measures only the heavy operations whose name contains one of these; all when there are none. */
  only: string[];
}

const DEFAULT_PAYMENTS = 100;
const DEFAULT_MINUTES = 60;
const DEFAULT_SOLANA = 1 / 3;
const DEFAULT_SECONDS = 10;

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function readOptions(args: string[]): ChaosOptions {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
      payments: text,
      seed: text,
      minutes: text,
      solana: text,
      seconds: text,
      only: { type: 'string', multiple: true, default: [] },
      facilitators: { type: 'boolean', default: false },
      weight: { type: 'boolean', default: false },
      mixture: { type: 'boolean', default: false },
      failovers: { type: 'boolean', default: false },
      clocks: { type: 'boolean', default: false },
      limits: { type: 'boolean', default: false },
      alike: { type: 'boolean', default: false },
    },
  });
  return {
    payments: readNumber('payments', values.payments, values.minutes === undefined ? DEFAULT_PAYMENTS : 1e9),
    seed: readNumber('seed', values.seed, randomInt(1, 1_000_000)),
    minutes: readNumber('minutes', values.minutes, DEFAULT_MINUTES),
    solana: readShare(values.solana, values.facilitators ? 0 : DEFAULT_SOLANA),
    facilitators: values.facilitators,
    weight: values.weight,
    mixture: values.mixture,
    only: values.only,
    failovers: values.failovers,
    clocks: values.clocks,
    limits: values.limits,
    alike: values.alike,
    seconds: readNumber('seconds', values.seconds, DEFAULT_SECONDS),
  };
}

function readShare(value: string | undefined, otherwise: number): number {
  return value === '0' || (value === undefined && otherwise === 0)
    ? 0
    : readNumber('solana', value, otherwise);
}

function readNumber(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  if (Number.isFinite(number) && number > 0) return number;
  throw new UsageError(`--${name} must be a number above 0; you said ${value}.`);
}
