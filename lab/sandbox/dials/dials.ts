import { isJsonObject, type JsonObject } from '../../../shared/values/json-object.js';
import { answers, type Behaviour, breaksBeforeWork, slow } from '../../world/facilitator/dial.js';
import type { EndpointName } from '../../world/facilitator/endpoints.js';

/** Fault settings of one facilitator and of the chains. Each holds until it is changed. */
export interface Dials {
  /** The setting of all three endpoints. */
  calls: (typeof CALL_DIALS)[number];
  /** Delay before the work of every /verify and /settle. */
  delayMs: number;
  /** How long a settlement waits for its block before it is reported as pending. */
  confirmWithinMs: number;
  settle: (typeof SETTLE_DIALS)[number];
  /** How the chains make blocks, for both facilitators: they share the chains. */
  blocks: (typeof BLOCK_DIALS)[number];
  /** How long the facilitator stays down after `die`. */
  downMs: number;
}

const CALL_DIALS = [
  'answer',
  /** Cuts the connection and does nothing, as if the process had been killed. */
  'drop_connection',
  /** Does nothing and answers nothing until the dial is changed; then it carries out what waits. */
  'hang',
  /** Answers 503 and does nothing. */
  'unavailable',
] as const;

const SETTLE_DIALS = [
  'answer',
  /** Sends the transaction and answers settlement_pending. */
  'pending',
  /** Sends the transaction and cuts the connection. */
  'drop_connection',
  /** Sends the transaction and crashes, losing its memory. */
  'die',
  /** Answers with the hash of a transaction that it never sends. */
  'lose_transaction',
  /** Answers 503 and does nothing. */
  'unavailable',
] as const;

const BLOCK_DIALS = [
  'at_once',
  /** A block every 3 s. */
  'slow',
  'halted',
] as const;

export const NO_FAULTS: Readonly<Dials> = {
  calls: 'answer',
  delayMs: 0,
  confirmWithinMs: 20_000,
  settle: 'answer',
  blocks: 'at_once',
  downMs: 10_000,
};

const UNAVAILABLE = answers(503, { error: 'unavailable' });
/** The longest delay of a timer. */
const WEEKS_MS = 2 ** 31 - 1;
const OF_ALL_CALLS: Record<Exclude<Dials['calls'], 'answer'>, Behaviour> = {
  drop_connection: breaksBeforeWork('drop'),
  hang: slow(WEEKS_MS),
  unavailable: UNAVAILABLE,
};

/** The schemes carry out `pending` and `lose_transaction`. */
export function behavioursOf(dials: Dials): Record<EndpointName, Behaviour> {
  if (dials.calls !== 'answer') {
    const same = OF_ALL_CALLS[dials.calls];
    return { supported: same, verify: same, settle: same };
  }
  return { supported: {}, verify: slow(dials.delayMs), settle: settleBehaviour(dials) };
}

function settleBehaviour({ settle, delayMs, downMs }: Dials): Behaviour {
  if (settle === 'unavailable') return UNAVAILABLE;
  if (settle === 'drop_connection') return slow(delayMs, { atBroadcast: 'drop' });
  return slow(delayMs, settle === 'die' ? { atBroadcast: { crashMs: downMs } } : {});
}

/** The settings to change, or an error message. */
export function parseDials(value: unknown): Partial<Dials> | string {
  if (!isJsonObject(value)) return 'Send a JSON object with some of the dials.';
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(NO_FAULTS, name));
  if (unknown !== undefined)
    return `There is no dial ${unknown}: there are ${Object.keys(NO_FAULTS).join(', ')}.`;
  for (const name of ['delayMs', 'confirmWithinMs', 'downMs'] as const) {
    if (name in value && !isPause(value[name])) return `${name} must be milliseconds, 0 to 600000.`;
  }
  return (
    checkChoice(value, 'calls', CALL_DIALS) ??
    checkChoice(value, 'settle', SETTLE_DIALS) ??
    checkChoice(value, 'blocks', BLOCK_DIALS) ??
    value
  );
}

function isPause(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 600_000;
}

function checkChoice(value: JsonObject, name: string, choices: readonly string[]): string | undefined {
  const isWrong = name in value && !choices.some((choice) => choice === value[name]);
  return isWrong ? `${name} must be one of ${choices.join(', ')}.` : undefined;
}
