import assert from 'node:assert/strict';
import { describePayment, serviceNameOf } from '../../../api/payment-link/describe.js';
import { type ItemSummary, summarize } from '../../../shared/payables/line-items.js';
import type { LinkedPayable } from '../../../shared/settlement/read-link.js';

const ONE = { network: 'eip155:84532', asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e' };

interface Described {
  merchant?: string;
  items?: [name: string, quantity: number][];
  cents?: number;
  expiresAt?: Date;
}

function summaryOf(items: [name: string, quantity: number][]): ItemSummary {
  const plain = { description: null, images: [], unitAmountCents: 1 };
  return summarize(items.map(([name, quantity]) => ({ name, quantity, ...plain })));
}

function describeOf({ merchant = 'Cafe Pocket', items, cents = 100, expiresAt }: Described): string {
  const session = {
    account: { name: merchant },
    amountTotalCents: cents,
    expiresAt: expiresAt ?? new Date('2026-11-22T03:04:05.678Z'),
    ...(items !== undefined && { summary: summaryOf(items) }),
  } as unknown as LinkedPayable;
  return describePayment(session, [ONE] as never);
}

const END = ', payable until 2026-11-22T03:04:05Z.';

describe('the description of a payment', () => {
  it('has the amount, the merchant, the items and the expiry', () => {
    assert.equal(describeOf({ items: [['Coffee', 1]] }), `$1.00 to Cafe Pocket for Coffee${END}`);
  });

  it('has quantities and the number of other items', () => {
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

  it('omits items that were not read', () => {
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

  it('includes advice for stock clients, with the same amount', () => {
    assert.equal(
      describeOf({ cents: 450 }),
      `$4.50 to Cafe Pocket${END} Stock x402 clients pay at most $1 until told client.setSpendControls({ maxAmountPerPayment: '$4.50' }).`,
    );
  });

  it('is a single line, whatever the names contain', () => {
    const text = describeOf({ merchant: ' Cafe\r\n\tPocket\u0000 ', items: [['Cof\nfee', 1]] });
    assert.equal(text, `$1.00 to Cafe Pocket for Cof fee${END}`);
  });

  it('omits invisible characters', () => {
    const hidden = '\u202e\u200b\u2066\u{e0049}\u{e0067}';
    const text = describeOf({ merchant: `Cafe${hidden} Pocket`, items: [[`Cof${hidden}fee`, 1]] });
    assert.equal(text, `$1.00 to Cafe Pocket for Coffee${END}`);
  });

  it('truncates names of more than 70 bytes between characters', () => {
    const text = describeOf({ merchant: '🥐'.repeat(100), items: [['x'.repeat(250), 1]] });
    assert.equal(text.isWellFormed(), true);
    assert.ok(text.includes(`to ${'🥐'.repeat(16)}… for ${'x'.repeat(67)}…, payable`), text);
    for (const name of ['🥐'.repeat(17), 'x'.repeat(70), '京'.repeat(23)]) {
      assert.ok(describeOf({ merchant: name }).includes(`to ${name}, payable`), name);
    }
    assert.ok(describeOf({ merchant: '京'.repeat(24) }).includes(`to ${'京'.repeat(22)}…, payable`));
  });
});

describe("the merchant's name as x402 allows it", () => {
  for (const [title, name, shown] of [
    ['is unchanged in ASCII', 'Cafe Pocket', 'Cafe Pocket'],
    ['has no accents', 'Café Müller', 'Cafe Muller'],
    ['has no punctuation that is not ASCII, nor emoji', 'Anna’s «Brot» – 🥐', 'Anna s Brot'],
    ['has no line ends or other control characters', 'Shop\r\nSet-Cookie: a=b\u0000', 'Shop Set-Cookie: a=b'],
    ['has no invisible characters', 'Sh\u200bop\u202e', 'Shop'],
    ['is in full width no longer', 'Ｓｈｏｐ', 'Shop'],
    ['is as long as it may be', 'x'.repeat(32), 'x'.repeat(32)],
    ['is cut', 'x'.repeat(33), `${'x'.repeat(29)}...`],
    ['is cut, however long it is', 'ab '.repeat(1667), 'ab ab ab ab ab ab ab ab ab ab...'],
    ['is absent in another script', '東京コーヒー', undefined],
    ['is absent where letters would be lost', 'Smørrebrød', undefined],
    ['is absent when nothing is left', '🥐🥐', undefined],
    ['is absent when it is empty', '', undefined],
  ] as const)
    it(title, () => {
      assert.equal(serviceNameOf(name), shown);
      if (shown !== undefined) assert.match(shown, /^[ -~]{1,32}$/);
    });
});
