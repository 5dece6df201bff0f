import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseBracketForm } from '../../../api/input/bracket-form.js';

const parse = (text: string): unknown => {
  const tree = parseBracketForm(Buffer.from(text));
  return tree && Object.fromEntries(tree);
};

describe('a form', () => {
  it('is parsed as URLSearchParams wrote it, for any names and values', () => {
    const text = fc.string({ unit: 'grapheme' });
    const name = text.filter((one) => one !== '' && !one.includes('['));
    fc.assert(
      fc.property(fc.dictionary(name, text), (given) => {
        const pairs = Object.entries(given);
        assert.deepEqual(parse(new URLSearchParams(pairs).toString()), Object.fromEntries(pairs));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a percent sign that begins no escape', () => {
    assert.deepEqual(parse('a=%&b=%4&c=%zz&d=100%25&%=%%41%'), {
      a: '%',
      b: '%4',
      c: '%zz',
      d: '100%',
      '%': '%A%',
    });
  });

  it('is split at separators, not at escaped ones', () => {
    assert.deepEqual(parse('a%26b=c%3Dd=e&f'), { 'a&b': 'c=d=e', f: '' });
    assert.deepEqual(parse('ä=ö+%C3%BC'), { ä: 'ö ü' });
  });

  it('is invalid when an escape is not UTF-8, also across a separator', () => {
    for (const text of ['a=%FF', '%C3=%A9', 'a=%C3&%A9=b', 'a=%ED%A0%80', 'a=%C0%AF', 'a=%E4%BD']) {
      assert.equal(parse(text), undefined, text);
    }
  });

  it('is decoded only as far as the longest value can reach, and is otherwise the same', () => {
    const longest = encodeURIComponent('🍵'.repeat(2048));
    assert.deepEqual(parse(`a=${longest}&b=1`), { a: '🍵'.repeat(2048), b: '1' });
    for (const one of ['x', '%', '%41', 'é', '%E4%BD%A0', '🍵', '%F0%9F%8D%B5'])
      for (const before of ['', '1', '22', '333', '4444']) {
        const { a, ...others } = Object(parse(`z=0&a=${before}${one.repeat(100_000)}&b=%C3%A9`));
        assert.deepEqual(others, { z: '0', b: 'é' });
        assert.ok(a.length > 2048 && a.length <= 32 * 1024, `${a.length}`);
        assert.ok(!a.includes('\ufffd') && !a.includes('&'));
      }
    for (const one of ['%80', '%FF', '%C3', '%E4%BD'])
      assert.equal(parse(`a=${one.repeat(100_000)}&b=1`), undefined, one);
    const [name = '', value] = Object.entries(Object(parse(`${'n'.repeat(32 * 1024 - 1)}=1&b=1`)))[0] ?? [];
    assert.deepEqual([name.length, value], [32 * 1024 - 1, '']);
  });

  it('collects the fields of an object in a list without numbers, until one of them comes again', () => {
    const plain = (node: unknown): unknown =>
      node instanceof Map ? Object.fromEntries([...node].map(([name, value]) => [name, plain(value)])) : node;
    const tree = (text: string): unknown => plain(parseBracketForm(Buffer.from(text)));
    assert.deepEqual(tree('a[][b][c]=1&a[][b][d]=2&a[][e]=3&a[][b][c]=4&a[][e]=5&a[][e]=6'), {
      a: { 0: { b: { c: '1', d: '2' }, e: '3' }, 1: { b: { c: '4' }, e: '5' }, 2: { e: '6' } },
    });
    assert.deepEqual(tree('a[][b][]=1&a[][b][]=2&a[][c]=3'), { a: { 0: { b: { 0: '1', 1: '2' }, c: '3' } } });
    assert.deepEqual(tree('a[]=1&a[][b]=2'), { a: { 0: '1', 1: { b: '2' } } });
    assert.deepEqual(tree('a[0][b]=1&a[][c]=2'), { a: { 0: { b: '1' }, 1: { c: '2' } } });
  });

  it('builds at most as many lists and objects as a request may have, and reports what is beyond', () => {
    const pairs = Array.from({ length: 5000 }, (_, i) => `items[${i}][a][b]=1`);
    const items = parseBracketForm(Buffer.from(pairs.join('&')))?.get('items');
    assert.ok(items instanceof Map);
    assert.equal(items.size, 5000);
    const built = [...items.values()].filter((one) => one instanceof Map);
    assert.ok(built.length <= 1000, `${built.length} built`);
  });
});
