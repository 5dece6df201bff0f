import assert from 'node:assert/strict';
import { describePayment } from '../../../api/payment-link/describe.js';
import { type ItemSummary, summarize } from '../../../shared/payables/states.js';
import type { LinkedSession } from '../../../shared/settlement/read-link.js';

const ONE = { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' };

interface Words {
  merchant?: string;
  items?: [name: string, quantity: number][];
  cents?: number;
  expiresAt?: Date;
}

function summaryOf(items: [name: string, quantity: number][]): ItemSummary {
  const plain = { description: null, images: [], unitAmountCents: 1 };
  return summarize(items.map(([name, quantity]) => ({ name, quantity, ...plain })));
}

function describeOf({ merchant = 'Cafe Pocket', items, cents = 100, expiresAt }: Words): string {
  const session = {
    account: { name: merchant },
    amountTotalCents: cents,
    expiresAt: expiresAt ?? new Date('2026-11-22T03:04:05.678Z'),
    ...(items !== undefined && { summary: summaryOf(items) }),
  } as unknown as LinkedSession;
  return describePayment(session, [ONE] as never);
}

const END = ', payable until 2026-11-22T03:04:05Z.';

describe('the description of a payment', () => {
  it('names the amount, the merchant, what is bought and until when', () => {
    assert.equal(describeOf({ items: [['Coffee', 1]] }), `$1.00 to Cafe Pocket for Coffee${END}`);
  });

  it('counts', () => {
    assert.equal(
      describeOf({
        items: [
          ['Coffee', 2],
          ['Tea', 1],
          ['Milk', 9],
        ],
      }),
      `$1.00 to Cafe Pocket for 2 x Coffee and 2 more${END}`,
    );
  });

  it('does without items where they are not read', () => {
    assert.equal(describeOf({}), `$1.00 to Cafe Pocket${END}`);
    assert.equal(describeOf({ items: [] }), `$1.00 to Cafe Pocket${END}`);
  });

  for (const [cents, dollars] of [
    [0, '$0.00'],
    [5, '$0.05'],
    [99, '$0.99'],
    [123_456, '$1234.56'],
    [Number.MAX_SAFE_INTEGER, '$90071992547409.91'],
  ] as const) {
    it(`writes ${cents} cents as ${dollars}`, () => {
      assert.ok(describeOf({ cents }).startsWith(`${dollars} to `));
    });
  }

  it('tells a stock client what it needs, in the same dollars', () => {
    assert.equal(
      describeOf({ cents: 450 }),
      `$4.50 to Cafe Pocket${END} Stock x402 clients pay at most $1 until told client.setSpendControls({ maxAmountPerPayment: '$4.50' }).`,
    );
  });

  it('is one line, whatever the names hold', () => {
    const text = describeOf({ merchant: ' Cafe\r\n\tPocket\u0000 ', items: [['Cof\nfee', 1]] });
    assert.equal(text, `$1.00 to Cafe Pocket for Cof fee${END}`);
  });

  it('says nothing that people would not see', () => {
    const hidden = '\u202e\u200b\u2066\u{e0049}\u{e0067}';
    const text = describeOf({ merchant: `Cafe${hidden} Pocket`, items: [[`Cof${hidden}fee`, 1]] });
    assert.equal(text, `$1.00 to Cafe Pocket for Coffee${END}`);
  });

  it('cuts names of more than 80 bytes between characters', () => {
    const text = describeOf({ merchant: '🥐'.repeat(100), items: [['x'.repeat(250), 1]] });
    assert.equal(text.isWellFormed(), true);
    assert.ok(text.includes(`to ${'🥐'.repeat(19)}… for ${'x'.repeat(77)}…, payable`), text);
    for (const whole of ['🥐'.repeat(20), 'x'.repeat(80), '京'.repeat(26)]) {
      assert.ok(describeOf({ merchant: whole }).includes(`to ${whole}, payable`), whole);
    }
    assert.ok(describeOf({ merchant: '京'.repeat(27) }).includes(`to ${'京'.repeat(25)}…, payable`));
  });
});
