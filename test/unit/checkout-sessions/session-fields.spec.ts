import assert from 'node:assert/strict';
import { inWireOrder, PERSONAL_FIELDS, SESSION_FIELDS } from '../../../shared/session-fields/fields.js';

describe('the rows of a session’s fields', () => {
  it('have the name in camel case as their property, as statements read columns', () => {
    for (const { name, property } of SESSION_FIELDS) {
      const camelCase = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      assert.equal(property, camelCase);
    }
  });

  it('are shown in alphabetical order, after id and object and before the payment and line items', () => {
    const members = { url: 1, line_items: 1, payment: 1, id: 1, status: 1, object: 1, cancel_url: 1 };
    assert.deepEqual(Object.keys(inWireOrder(members)), [
      'id',
      'object',
      'cancel_url',
      'status',
      'url',
      'payment',
      'line_items',
    ]);
  });

  it('are shown before metadata where they are personal, since erasure replaces the first field of that name', () => {
    const members = Object.fromEntries(SESSION_FIELDS.map(({ name }) => [name, null]));
    const order = Object.keys(inWireOrder(members));
    assert.ok(PERSONAL_FIELDS.length > 0);
    for (const { name } of PERSONAL_FIELDS) assert.ok(order.indexOf(name) < order.indexOf('metadata'), name);
  });
});
