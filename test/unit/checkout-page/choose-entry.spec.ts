import assert from 'node:assert/strict';
import { canPay, rankEntries } from '../../../api/checkout-page/browser/choose-entry.js';
import type { PayableEntry } from '../../../api/checkout-page/page-data.js';

const AMOUNT = 35_370_000n;

/** Builds an entry with only the fields that the choice reads. */
const entry = (network: string, rank: number): PayableEntry =>
  ({ accepted: { network, amount: AMOUNT.toString() }, rank }) as PayableEntry;
const BASE = entry('eip155:8453', 0);
const POLYGON = entry('eip155:137', 2);
const ETHEREUM = entry('eip155:1', 14);
const ALL = [ETHEREUM, POLYGON, BASE];

describe('the entry that a wallet pays', () => {
  for (const [what, held, network, order] of [
    [
      'is on the cheapest and fastest network when nothing is known',
      [],
      undefined,
      [BASE, POLYGON, ETHEREUM],
    ],
    ['is on the current network of the wallet, among equals', [], 'eip155:1', [ETHEREUM, BASE, POLYGON]],
    [
      'has enough, else an unknown balance, else too little',
      [
        [BASE, AMOUNT - 1n],
        [ETHEREUM, AMOUNT],
      ],
      'eip155:8453',
      [ETHEREUM, POLYGON, BASE],
    ],
    [
      'is on the current network of the wallet when several have enough',
      [
        [BASE, AMOUNT],
        [POLYGON, AMOUNT + 1n],
      ],
      'eip155:137',
      [POLYGON, BASE, ETHEREUM],
    ],
  ] as const) {
    it(what, () => {
      const holdings = { address: '0x', network, balances: new Map<PayableEntry, bigint>(held) };
      assert.deepEqual(rankEntries(ALL, holdings), order);
      assert.deepEqual(ALL, [ETHEREUM, POLYGON, BASE]);
    });
  }

  it('with an unknown balance is not ranked as empty', () => {
    assert.equal(canPay(BASE, { balances: new Map() }), 'unknown');
    assert.equal(canPay(BASE, { balances: new Map([[BASE, 0n]]) }), 'no');
    assert.equal(canPay(BASE, { balances: new Map([[BASE, AMOUNT]]) }), 'yes');
  });
});
