import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CheckoutSession } from '../../../shared/checkout-sessions/model.js';
import { presentCheckoutSession, renderCheckoutSession } from '../../../shared/checkout-sessions/present.js';
import { presentLineItems, renderLineItems } from '../../../shared/checkout-sessions/present-line-items.js';
import type { LineItem } from '../../../shared/payables/line-items.js';
import { fieldsBy, TEXT_FIELDS } from '../../../shared/session-fields/fields.js';
import { newId } from '../../../shared/values/ids.js';
import { presentList, renderObjects, textOfList } from '../../../shared/wire/list.js';
import { anyCharacter } from '../../support/any-character.js';

const ID = newId('cs_test_');
const text = fc.string({ unit: anyCharacter, maxLength: 40 });

const items: fc.Arbitrary<LineItem[]> = fc.array(
  fc.record({
    id: text,
    name: text,
    description: fc.option(text),
    images: fc.array(text, { maxLength: 3 }),
    unitAmountCents: fc.nat(),
    quantity: fc.nat(),
  }),
  { maxLength: 4 },
);

const sessions = fc
  .record({
    id: fc.constant(ID),
    livemode: fc.boolean(),
    status: fc.constantFrom('open', 'processing', 'expired', 'complete'),
    amountTotalCents: fc.nat(),
    metadata: fc.dictionary(text, text, { maxKeys: 4 }),
    ...fieldsBy('property', TEXT_FIELDS, () => fc.option(text)),
    expiresAt: fc.constant(new Date(0)),
    lineItems: items,
  })
  .map((fields) => Object.assign(new CheckoutSession(), fields) as CheckoutSession);

const join = (pieces: Iterable<string>): string => [...pieces].join('');

describe('rendering piece by piece gives the same bytes as presenting the whole', () => {
  it('of line items', () => {
    fc.assert(
      fc.property(items, fc.boolean(), (all, hasMore) => {
        assert.equal(
          join(renderLineItems(ID, all, hasMore)),
          JSON.stringify(presentLineItems(ID, all, hasMore)),
        );
      }),
    );
  });

  for (const expand of [[], ['line_items' as const]]) {
    it(`of lists of sessions that expand ${expand.join('') || 'nothing'}`, () => {
      const view = { baseUrl: 'https://pay.example', expand };
      fc.assert(
        fc.property(fc.array(sessions, { maxLength: 3 }), fc.boolean(), (all, hasMore) => {
          const pieces = renderObjects(
            all.map((session) => renderCheckoutSession(session, view)),
            textOfList('/v1/checkout/sessions', hasMore),
          );
          const whole = presentList(
            '/v1/checkout/sessions',
            all.map((session) => presentCheckoutSession(session, view)),
            hasMore,
          );
          assert.equal(join(pieces), JSON.stringify(whole));
        }),
      );
    });
  }
});
