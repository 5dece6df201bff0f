import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { Parts } from '../../world/program/parts.js';
import { asUsage, readNumber } from '../../world/program/usage.js';

export type ChaosOptions = ReturnType<typeof readOptions>;

export const USAGE = `npm run chaos -- [--payments N] [--seed S] [--minutes M] [--solana SHARE] [--failovers] [--clocks] [--limits] [--alike]
npm run chaos -- --facilitators [--payments N] [--seed S] [--solana SHARE]
npm run chaos -- --weight [--seconds N] [--mixture] [--only NAME]…

--payments  sessions to open and pay
--seed      draws the same purchases and faults again
--minutes   the longest time for which faults are injected
--solana    the share of buyers that pay on Solana, 0 to 1
--failovers promotes standbys without the last commits
--clocks    sets the clocks of Postgres, Redis and hosts
--limits    limits the calls a second of the chains' endpoints all the time
--alike     gives all purchases one price and a few wallets, which pay the refunds, too
--facilitators lets one of two facilitators die, hang, lie and be slow, on three EVM networks; with --solana on Solana, too
--weight    measures the load that one account and one address can put on others
--seconds   how long each heavy operation is measured
--mixture   measures only all heavy operations at once
--only      measures only the heavy operations that have this in their name; may be repeated
`;

const DEFAULT_PAYMENTS = 100;
const DEFAULT_MINUTES = 60;
const DEFAULT_SOLANA = 1 / 3;
const DEFAULT_SECONDS = 10;

export function readOptions(args: string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = asUsage(() =>
    parseArgs({
      args,
      options: {
        payments: text,
        seed: text,
        minutes: text,
        solana: text,
        seconds: text,
        only: { type: 'string', multiple: true, default: [] as string[] },
        facilitators: flag,
        weight: flag,
        mixture: flag,
        failovers: flag,
        clocks: flag,
        limits: flag,
        alike: flag,
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

/** The folder, the parts to stop and the output, the same for each kind of run. */
export interface RunContext {
  folder: string;
  parts: Parts;
  print(text: string): void;
}
