import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isTooHeavy, type Weight, weighForm, weighJson } from '../../../api/input/weigh.js';
import { MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../../shared/limits/bounds.js';
import { anyCharacter } from '../../support/any-character.js';

const json = (text: string): Weight => weighJson(Buffer.from(text));
const form = (text: string): Weight => weighForm(Buffer.from(text));

/** The expected weight, from the parsed value. */
function weightOf(value: unknown): Weight {
  if (typeof value !== 'object' || value === null) return { values: 1, depth: 0 };
  const members = Object.values(value).map(weightOf);
  return {
    values: members.reduce((sum, { values }) => sum + values, 1),
    depth: 1 + members.reduce((most, { depth }) => Math.max(most, depth), 0),
  };
}

describe('the weight of a body', () => {
  it('is that of its JSON, for any strings and white space', () => {
    const tricky = fc.constantFrom(
      '"',
      '\\',
      '\\"',
      '[',
      ']',
      '{',
      '}',
      ',',
      ':',
      '\\\\',
      'ä,',
      '\u2028',
      '[]',
    );
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.array(tricky).map((parts) => parts.join('')),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(null, true, false),
        fc.array(tie('value'), { maxLength: 6 }),
        fc.dictionary(text, tie('value'), { maxKeys: 6 }),
      ),
    }));
    const space = fc.constantFrom(undefined, 1, '\t', ' \r\n');
    fc.assert(
      fc.property(value, space, (given, indent) => {
        const parsed: unknown = JSON.parse(JSON.stringify(given));
        assert.deepEqual(json(JSON.stringify(given, null, indent)), weightOf(parsed));
      }),
      { numRuns: 200 },
    );
  });

  it('counts repeated keys and empty values', () => {
    assert.deepEqual(json('{"a":1,"a":2,"a":[]}'), { values: 4, depth: 2 });
    assert.deepEqual(json(' [ [ ] , { } ] '), { values: 3, depth: 2 });
    assert.deepEqual(json('[[[]]]'), { values: 3, depth: 3 });
    assert.deepEqual(json('"a,[\\",{"'), { values: 1, depth: 0 });
  });

  it('counts the pairs of a form, and the brackets of names only', () => {
    assert.deepEqual(form('a=1'), { values: 1, depth: 1 });
    assert.deepEqual(form('a[b][c]=[[[[&d=e=[f]&'), { values: 3, depth: 3 });
    assert.deepEqual(form('a%5Bb%5D%5bc%5d=%5B%5B%5B%5B'), { values: 1, depth: 3 });
    assert.deepEqual(form('&&&'), { values: 4, depth: 1 });
    assert.deepEqual(form('a%5'), { values: 1, depth: 1 });
  });

  it('is accepted up to the limits and refused above', () => {
    const values = (count: number): string => `[${'1,'.repeat(count - 2)}1]`;
    assert.deepEqual(json(values(MAX_BODY_VALUES)), { values: MAX_BODY_VALUES, depth: 1 });
    const nested = (depth: number): string => '[{"a":'.repeat(depth / 2) + '[]'.repeat(depth % 2);
    const names = (depth: number): string => `a${'[b]'.repeat(depth - 1)}=1`;
    const pairs = (count: number): string => 'a=1&'.repeat(count - 1);
    for (const [weigh, fitting, beyond] of [
      [json, values(MAX_BODY_VALUES), values(MAX_BODY_VALUES + 1)],
      [json, nested(MAX_BODY_DEPTH), nested(MAX_BODY_DEPTH + 1)],
      [form, pairs(MAX_BODY_VALUES), pairs(MAX_BODY_VALUES + 1)],
      [form, names(MAX_BODY_DEPTH), names(MAX_BODY_DEPTH + 1)],
    ] as const) {
      assert.equal(isTooHeavy(weigh(fitting)), false);
      assert.equal(isTooHeavy(weigh(beyond)), true);
    }
  });

  it('is counted no further than the limits', () => {
    const heavy = Buffer.from(`[${'{},'.repeat(MAX_BODY_VALUES * 10)}`);
    let reads = 0;
    const watched = new Proxy(heavy, {
      get: (target, name) => {
        reads += typeof name === 'string' && /^\d+$/.test(name) ? 1 : 0;
        return Reflect.get(target, name, target);
      },
    });
    assert.ok(isTooHeavy(weighJson(watched)));
    assert.ok(reads < MAX_BODY_VALUES * 6, `${reads} reads`);
  });
});
