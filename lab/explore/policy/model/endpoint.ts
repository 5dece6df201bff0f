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

/** With confirmations, an end counts as past when a block that has them is past it. */
function sightsAt(head: number, { use, end }: Payload, setting: Setting): Observation[] {
  const { chain, explains, confirmations } = setting;
  const isExhausted = head - Math.max(0, confirmations - 1) > end;
  if (use === null || use.block > head)
    return [{ finding: { kind: 'unused', head, isExhausted }, isWhole: true }];
  const unexplained: Observation[] =
    chain === 'evm' ? [{ finding: { kind: 'used' }, isWhole: !explains }] : [];
  return explains
    ? [...unexplained, { finding: explained(use.by, head - use.block + 1, setting), isWhole: true }]
    : unexplained;
}

/** No rule requires more than two confirmations. A use that does not pay is pending until it has as many as are required. */
function explained(by: 'payment' | 'owner', blocks: number, { confirmations }: Setting): Finding {
  if (by === 'payment') return { kind: 'paid', confirmations: Math.min(blocks, 2) };
  return { kind: blocks < confirmations ? 'pending' : 'spent_otherwise' };
}

function partial(finding: Finding): Observation {
  return { finding, isWhole: false };
}
