import assert from 'node:assert/strict';
import { normalize, type SchemaNode } from '../../../api/input/normalize.js';
import { Refusal } from '../../../shared/errors/refusal.js';

const TOO_MANY = 10_000;

describe('normalizing input', () => {
  /** `TOO_MANY` members that count how often they are read. */
  function watched(target: object): { read: number } {
    const seen = { read: 0 };
    for (let i = 0; i < TOO_MANY; i += 1) {
      const get = (): object => {
        seen.read += 1;
        return {};
      };
      Object.defineProperty(target, Array.isArray(target) ? i : `k${i}`, { get, enumerable: true });
    }
    return seen;
  }

  const shape = (name: string, schema: SchemaNode, value: unknown): unknown =>
    normalize(
      { type: 'object', properties: { [name]: schema } },
      { encoding: 'json', value: { [name]: value } },
    );

  const refuses = (param: string, message: string) => (error: unknown) => {
    assert.ok(error instanceof Refusal);
    assert.deepEqual([error.code, error.details.param, error.message], ['parameter_invalid', param, message]);
    return true;
  };

  it('reads no element of an array that is too long', () => {
    const items: unknown[] = [];
    const seen = watched(items);
    const schema: SchemaNode = { type: 'array', maxItems: 100, items: { type: 'object' } };
    assert.throws(
      () => shape('items', schema, items),
      refuses('items', 'items may hold at most 100 elements.'),
    );
    assert.equal(seen.read, 0);
  });

  it('stops reading an object with too many members', () => {
    const members = {};
    const seen = watched(members);
    const schema: SchemaNode = {
      type: 'object',
      maxProperties: 50,
      additionalProperties: { type: 'string' },
    };
    assert.throws(
      () => shape('metadata', schema, members),
      refuses('metadata', 'metadata may hold at most 50 keys.'),
    );
    assert.equal(seen.read, 51);
  });

  it('keeps one unknown member of many', () => {
    const names = Array.from({ length: TOO_MANY }, (_, i) => [`k${i}`, i]);
    const shaped = shape('price', { type: 'object', properties: {} }, Object.fromEntries(names));
    assert.equal(JSON.stringify(shaped), '{"price":{"k0":true}}');
  });
});
