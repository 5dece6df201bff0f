import assert from 'node:assert/strict';
import { type ExplainedPayment, judgeHistory } from '../../../lab/world/history/judge-history.js';
import type { Observation } from '../../../shared/payments/states.js';

const AT = '2026-11-24T00:00:00.000Z';
const TRANSACTION = '0xabc';
const by =
  (source: Observation['source']) =>
  (said: string, row?: string): Observation => ({ at: AT, source, said, ...(row !== undefined && { row }) });
const chain = by('chain');
const facilitator = by('facilitator');
const service = by('service');

const payment = (history: Observation[], columns: Partial<ExplainedPayment> = {}): ExplainedPayment => ({
  id: 'pay_1',
  status: 'succeeded',
  failureCode: null,
  transaction: TRANSACTION,
  history,
  ...columns,
});
const failed = (failureCode: string): Partial<ExplainedPayment> => ({
  status: 'failed',
  transaction: null,
  failureCode,
});

const SETTLED = facilitator(`settled in ${TRANSACTION}`, 'answer-settled-3');
const PAID = chain(`paid in ${TRANSACTION}`, 'look-paid-1');
const UNCLEAR = facilitator('unclear: HTTP 500', 'answer-unknown-1');

const SOUND: Readonly<Record<string, ExplainedPayment>> = {
  'settled at once': payment([{ ...SETTLED, certain: 'paid' }]),
  'unclear, then proved': payment([UNCLEAR, chain('unused', 'look-unused-1'), PAID]),
  'refused with a word that proves it': payment(
    [facilitator('invalid_network', 'answer-rejected-4')],
    failed('invalid_network'),
  ),
  'refused, and late money': payment([
    facilitator('invalid_network', 'answer-rejected-4'),
    chain(`paid in ${TRANSACTION}`, 'late-paid-1'),
  ]),
  'given up as uncertain': payment(
    [UNCLEAR, chain('not readable: HTTP 429', 'look-unreadable-5')],
    failed('outcome_unknown'),
  ),
  'resolved by an operator': payment([UNCLEAR, by('operator')(`paid in ${TRANSACTION}`)]),
  'written by an earlier version': payment([facilitator('unexpected_settle_error')], failed('whatever')),
};

const CONTRADICTIONS: Readonly<Record<string, [ExplainedPayment, RegExp]>> = {
  'an unknown row': [
    payment([facilitator('settled in 0xabc', 'answer-settled-9')]),
    /no row answer-settled-9/,
  ],
  'a certainty that its row does not have': [
    payment([{ ...PAID, row: 'look-paid-2', certain: 'paid' }]),
    /look-paid-2 decided, and is not certain of paid/,
  ],
  'a word that proves nothing': [
    payment([facilitator('unknown_error', 'answer-rejected-4')], failed('unknown_error')),
    /unknown_error” was believed, and does not prove/,
  ],
  'a refusal after an unclear outcome': [
    payment([UNCLEAR, facilitator('invalid_network', 'answer-rejected-4')], failed('invalid_network')),
    /believed after an unclear outcome/,
  ],
  "a row of another witness's": [
    payment([facilitator('paid in 0xabc', 'look-paid-1')]),
    /look-paid-1 decided by what the facilitator said/,
  ],
  'a finding of another kind': [payment([chain('unused', 'look-paid-1')]), /look-paid-1 decided by “unused”/],
  'anything after the success': [payment([SETTLED, PAID]), /comes after the success/],
  'a check for late money before the failure': [
    payment([chain('paid in 0xabc', 'late-paid-1')]),
    /decided while the payment was processing/,
  ],
  'a status that nothing decided': [payment([UNCLEAR]), /it is succeeded, and its history ends processing/],
  'another transaction': [
    payment([SETTLED], { transaction: '0xother' }),
    /succeeded by 0xother, and its history says/,
  ],
  'a certain code for an uncertain end': [
    payment([UNCLEAR, chain('not readable: HTTP 429', 'look-unreadable-5')], failed('payment_failed')),
    /failed with payment_failed, decided by look-unreadable-5/,
  ],
  'an uncertain code for a certain end': [
    payment([service('not sent yet: its limit', 'answer-postponed-3')], failed('outcome_unknown')),
    /failed with outcome_unknown, decided by answer-postponed-3/,
  ],
};

describe('the check of recorded histories against the policy', () => {
  for (const [what, one] of Object.entries(SOUND))
    it(`accepts: ${what}`, () => assert.deepEqual(judgeHistory(one), []));

  for (const [what, [one, violation]] of Object.entries(CONTRADICTIONS))
    it(`finds: ${what}`, () => assert.match(judgeHistory(one).join('\n'), violation));
});
