import type { Setting } from '../setting.js';
import type { Finding, Payload } from './world.js';

export interface Sight {
  readonly finding: Finding;
  /** All that is so now. */
  readonly isWhole: boolean;
}

/** What an endpoint may say of a payload. It never says what is not so; it may be late, or say less. */
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

/** Of confirmations, no rule here asks for more than two. */
function explained(by: 'payment' | 'owner', age: number): Finding {
  return by === 'owner' ? { kind: 'spent_otherwise' } : { kind: 'paid', confirmations: Math.min(age + 1, 2) };
}

function partial(finding: Finding): Sight {
  return { finding, isWhole: false };
}
