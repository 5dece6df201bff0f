import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Parts } from '../../world/program/parts.js';
import { asUsage, readNumber } from '../../world/program/usage.js';

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

export function readOptions(args: string[]): ChaosOptions {
  const text = { type: 'string' } as const;
  const { values } = asUsage(() =>
    parseArgs({
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
    }),
  );
  const { payments, seed, minutes, solana, seconds } = values;
  return {
    ...values,
    payments: readNumber('payments', payments, minutes === undefined ? DEFAULT_PAYMENTS : 1e9),
    seed: readNumber('seed', seed, randomInt(1, 1_000_000)),
    minutes: readNumber('minutes', minutes, DEFAULT_MINUTES),
    solana: readShare(solana, values.facilitators ? 0 : DEFAULT_SOLANA),
    seconds: readNumber('seconds', seconds, DEFAULT_SECONDS),
  };
}

function readShare(value: string | undefined, otherwise: number): number {
  return value === '0' || (value === undefined && otherwise === 0)
    ? 0
    : readNumber('solana', value, otherwise);
}

/** What surrounds each kind of run. */
export interface RunContext {
  folder: string;
  parts: Parts;
  print(text: string): void;
}
