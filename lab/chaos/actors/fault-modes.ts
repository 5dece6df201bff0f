import { pick, type Random, shuffled } from '../../world/chance/seeded-random.js';
import {
  altered,
  answers,
  answersGarbage,
  answersHtml,
  type Behaviour,
  breaksAfterWork,
  breaksBeforeWork,
  failsAfterWork,
  failsToSettle,
  refuses,
  settlesAsPending,
  slow,
} from '../../world/facilitator/dial.js';

/** Longer than the service's timeout, and shorter than the time for which it counts a timed-out call as running. */
const VERIFY_TOO_SLOW_MS = 3000;
const SETTLE_TOO_SLOW_MS = 6000;
const HASH = `0x${'ab'.repeat(32)}`;
const HONEST: FaultMode = { name: 'honest', behave: () => ({}) };
const FAILING_SHARE = 0.2;

export interface FaultMode {
  name: string;
  behave: () => Behaviour;
}

type FaultModes = Record<string, () => Behaviour>;

const DENIAL = { success: false, errorReason: 'insufficient_funds', transaction: '' };
const LIE = 'lied: ';

const VERIFY: FaultModes = {
  'refused, 200': () => refuses('insufficient_funds'),
  'refused, 400': () => answers(400, { isValid: false, invalidReason: 'insufficient_funds' }),
  'refused, 412': () => answers(412, { isValid: false, invalidReason: 'insufficient_funds' }),
  '400 without a verdict': () => answers(400),
  '401': () => answers(401),
  '403': () => answers(403),
  '429': () => answers(429),
  '500': () => answers(500),
  '502 as HTML': () => answersHtml(502),
  '503 as HTML': () => answersHtml(503),
  garbage: () => answersGarbage(),
  reset: () => breaksBeforeWork('reset'),
  dropped: () => breaksBeforeWork('drop'),
  'too slow': () => slow(VERIFY_TOO_SLOW_MS),
};

/**
 * Failures without any work, ambiguous answers with and without the money moved, and lies, which may cause late money.
 */
const SETTLE: FaultModes = {
  'failed for certain': () => failsToSettle('insufficient_funds'),
  'failed, with a hash': () => failsToSettle('invalid_exact_evm_transaction_failed', HASH),
  'pending, nothing done': () => failsToSettle('settlement_pending', HASH),
  'pending without a hash, nothing done': () => failsToSettle('settlement_pending'),
  'duplicate, nothing done': () => failsToSettle('duplicate_settlement'),
  'nonce used, nothing done': () => failsToSettle('invalid_exact_evm_nonce_already_used'),
  '401': () => answers(401),
  '403': () => answers(403),
  '429': () => answers(429),
  '500, nothing done': () => answers(500),
  '500 with a verdict, nothing done': () =>
    answers(500, { success: false, errorReason: 'error', transaction: '' }),
  '503 as HTML, nothing done': () => answersHtml(503),
  'garbage, nothing done': () => answersGarbage(),
  'reset, nothing done': () => breaksBeforeWork('reset'),
  'dropped, nothing done': () => breaksBeforeWork('drop'),
  'too slow, nothing done': () => slow(SETTLE_TOO_SLOW_MS, { works: false }),
  'done, pending': () => settlesAsPending(),
  'done, pending without a hash': () =>
    altered({ success: false, errorReason: 'settlement_pending', transaction: '' }),
  'done, nonce used': () =>
    altered({ success: false, errorReason: 'invalid_exact_evm_nonce_already_used', transaction: '' }),
  'done, transaction failed': () =>
    altered({ success: false, errorReason: 'invalid_exact_evm_transaction_failed', transaction: '' }),
  'done, without a transaction': () => altered({ transaction: '' }),
  'done, no network': () => altered({ network: '', payer: null }),
  'done, another network': () => altered({ network: 'eip155:8453' }),
  'done, 500': () => failsAfterWork(500),
  'done, 502 as HTML': () => failsAfterWork(502, '<html>bad gateway</html>'),
  'done, 504 as HTML': () => failsAfterWork(504, '<html>gateway timeout</html>'),
  'done, reset': () => breaksAfterWork('reset'),
  'done, dropped': () => breaksAfterWork('drop'),
  'done, cut short': () => breaksAfterWork('truncate'),
  'done, too slow': () => slow(SETTLE_TOO_SLOW_MS),
  'done, 429 with the transaction': () => altered({}, 429),
  'done, 403 and pending': () =>
    altered({ success: false, errorReason: 'settlement_pending', transaction: '' }, 403),
  'refused as used, nothing done': () => failsToSettle('invalid_transaction_state'),
  'unexpected error, nothing done': () => failsToSettle('unexpected_settle_error'),
  // One chain check exposes this lie, if the chain can be read at that moment.
  [`${LIE}refused as used, and done`]: () =>
    altered({ success: false, errorReason: 'invalid_transaction_state', transaction: '' }),
  [`${LIE}failed for certain, and done`]: () => altered(DENIAL),
  [`${LIE}failed for certain, and done afterwards`]: () => ({
    works: 'after_answering',
    answer: () => ({ status: 200, body: DENIAL }),
  }),
};

const SUPPORTED: FaultModes = {
  '500': () => answers(500),
  garbage: () => answersGarbage(),
  reset: () => breaksBeforeWork('reset'),
  'too slow': () => slow(VERIFY_TOO_SLOW_MS),
};

export const FAULT_MODES = { supported: SUPPORTED, verify: VERIFY, settle: SETTLE };

/** A clear answer that was false: believing it is correct behaviour, and the money counts as late. */
export function isLie(faultMode: string): boolean {
  return faultMode.startsWith(LIE);
}

/** One call in five fails. Every fault mode has its turn before any repeats. */
export function drawFaultModes(random: Random, faultModes: FaultModes, calls: number): FaultMode[] {
  const all = Object.entries(faultModes).map(([name, behave]): FaultMode => ({ name, behave }));
  let deck: FaultMode[] = [];
  return Array.from({ length: calls }, () => {
    if (random() >= FAILING_SHARE) return HONEST;
    if (deck.length === 0) deck = shuffled(random, all);
    return deck.pop() ?? pick(random, all);
  });
}
