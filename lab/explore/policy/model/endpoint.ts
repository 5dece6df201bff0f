import type { Setting } from '../setting/setting.js';
import type { Finding, Payload } from './world.js';

export interface Observation {
  readonly finding: Finding;
  /** The observation contains everything that is true now. */
  readonly isWhole: boolean;
}

/**
 * The possible answers of an endpoint about a payload. An endpoint never answers anything false; it may be late, or say
 * less.
 */
export function observationsOf(head: number, payload: Payload, setting: Setting): Observation[] {
  const whole = sightsAt(head, payload, setting);
  const truth = whole.filter(({ isWhole }) => isWhole);
  if (setting.findings === 'truth') return truth;
  if (setting.findings === 'few') return [partial({ kind: 'unreadable', head: null }), ...truth];
  const late = setting.lags ? sightsAt(head - 1, payload, setting) : [];
  return [
    partial({ kind: 'unreadable', head: null }),
    ...(setting.chain === 'solana' ? observationsOfSearch(payload) : [partial({ kind: 'unreadable', head })]),
    ...whole,
    ...late.map(({ finding }) => partial(finding)),
  ];
}

function observationsOfSearch({ isSent }: Payload): Observation[] {
  const searching = partial({ kind: 'searching' });
  return isSent ? [searching, partial({ kind: 'pending' })] : [searching];
}

function sightsAt(head: number, { use, end }: Payload, { chain, explains }: Setting): Observation[] {
  if (use === null || use.block > head)
    return [{ finding: { kind: 'unused', head, isExhausted: head > end }, isWhole: true }];
  const unexplained: Observation[] =
    chain === 'evm' ? [{ finding: { kind: 'used' }, isWhole: !explains }] : [];
  return explains
    ? [...unexplained, { finding: explained(use.by, head - use.block), isWhole: true }]
    : unexplained;
}

/** No rule requires more than two confirmations. */
function explained(by: 'payment' | 'owner', age: number): Finding {
  return by === 'owner' ? { kind: 'spent_otherwise' } : { kind: 'paid', confirmations: Math.min(age + 1, 2) };
}

function partial(finding: Finding): Observation {
  return { finding, isWhole: false };
}
