import type { Setting } from '../setting.js';
import type { Finding, Payload } from './world.js';

export interface Sight {
  readonly finding: Finding;
  /** The endpoint tells everything that is true now. */
  readonly isWhole: boolean;
}

/** The findings that an endpoint may give. None is false; an endpoint may be late, or tell less than it could. */
export function sightsOf(head: number, payload: Payload, setting: Setting): Sight[] {
  const whole = sightsAt(head, payload, setting);
  const truth = whole.filter(({ isWhole }) => isWhole);
  if (setting.findings === 'truth') return truth;
  if (setting.findings === 'few') return [partial({ kind: 'unreadable', head: null }), ...truth];
  const late = setting.lags ? sightsAt(head - 1, payload, setting) : [];
  return [
    partial({ kind: 'unreadable', head: null }),
    ...(setting.chain === 'solana' ? sightsOfSearch(payload) : [partial({ kind: 'unreadable', head })]),
    ...whole,
    ...late.map(({ finding }) => partial(finding)),
  ];
}

function sightsOfSearch({ isSent }: Payload): Sight[] {
  const searching = partial({ kind: 'searching' });
  return isSent ? [searching, partial({ kind: 'pending' })] : [searching];
}

function sightsAt(head: number, { use, end }: Payload, { chain, explains }: Setting): Sight[] {
  if (use === null || use.block > head)
    return [{ finding: { kind: 'unused', head, isExhausted: head > end }, isWhole: true }];
  const unexplained: Sight[] = chain === 'evm' ? [{ finding: { kind: 'used' }, isWhole: !explains }] : [];
  return explains
    ? [...unexplained, { finding: explained(use.by, head - use.block), isWhole: true }]
    : unexplained;
}

/** No rule of the model asks for more than two confirmations. */
function explained(by: 'payment' | 'owner', age: number): Finding {
  return by === 'owner' ? { kind: 'spent_otherwise' } : { kind: 'paid', confirmations: Math.min(age + 1, 2) };
}

function partial(finding: Finding): Sight {
  return { finding, isWhole: false };
}
