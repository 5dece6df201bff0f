import fc, { type Arbitrary } from 'fast-check';
import { anyCharacter } from '../any-character.js';

/** JSON text that JSON.stringify cannot produce: numbers out of range, repeated names, deep nesting. */
export class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Json = string | number | boolean | null | Raw | Json[] | { [name: string]: Json };

export function jsonText(value: Json): string {
  if (value instanceof Raw) return value.text;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`)
    .join(',')}}`;
}

/** This text may not occur in a header, a page or a log. */
export const MARK = 'never-in-a-log';

const CURIOUS = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\ud83d',
  '\u202e\u2066abc',
  '\ufeff',
  '\u2028\u2029',
  '\uffff\ufffe',
  'e\u0301',
  'é',
  '\ufb01',
  'İ',
  '👩‍👩‍👧‍👦'.repeat(5),
  '𝕳'.repeat(21),
  "'; DROP TABLE accounts; --",
  '$1 ?? :id ::text {}',
  '%00%ff%c0%ae',
  '%',
  '\\u0000',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '{{7*7}}<%= 7*7 %>',
  '../../../etc/passwd',
  'true',
  'null',
  '007',
  '-1',
  '1e3',
  'NaN',
  '[object Object]',
  '{CHECKOUT_SESSION_ID}',
  'https://127.0.0.1/',
  'javascript:alert(1)',
  'https://user:pass@shop.example/',
  'https://[::ffff:127.0.0.1]/',
  'https://xn--80ak6aa92e.example/',
  'line\r\nbreak',
];

const LENGTHS = [40, 41, 200, 201, 250, 251, 254, 255, 256, 500, 501, 2048, 2049, 5000, 5001];

export const hostileText: Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...CURIOUS) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom(...LENGTHS).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom(MARK) },
);

export const hostileName: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'valueOf',
    'toJSON',
    'then',
    'length',
    '0',
    '-1',
    '',
    'a[b]',
    '[]',
    ']',
    '$ref',
    'line_items',
    'url',
    'id',
    'livemode',
    'account_id',
    'secret',
    'status',
    'polluted',
  ),
  hostileText,
);

const RAW = [
  '1e400',
  '-1e400',
  '-0',
  '0.1e1',
  '1.0',
  '9007199254740993',
  '99999999999999999999999999999999',
  '1e-400',
  `${'['.repeat(2000)}${']'.repeat(2000)}`,
  `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`,
  '{"a":1,"a":2,"a":3}',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '"\\ud800\\u0000"',
  `[${'{},'.repeat(300)}{}]`,
  `[${'1,'.repeat(5000)}1]`,
].map((text) => new Raw(text));

/** A value once in `oneIn` times, else null. The `freq` of fast-check sets how often it is null. */
export function rarely<T>(oneIn: number, arbitrary: Arbitrary<T>): Arbitrary<T | null> {
  return fc.oneof({ weight: oneIn - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

const scalar: Arbitrary<Json> = fc.oneof(
  hostileText,
  fc.constantFrom<Json>(true, false, null, 0, -1, 1.5, 2 ** 53, 1e21, 99_999_999, 100_000_000),
  fc.constantFrom<Json>(...RAW),
);

export const hostileValue: Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.dictionary(hostileName, scalar, { maxKeys: 4 }).map((found) => ({ ...found })) },
  { weight: 1, arbitrary: fc.constantFrom<Json>({}, [], [[]], [{}], [null], { 0: {} }) },
);

/** A change at one path of a value. */
interface Damage {
  at: number;
  how: 'replace' | 'remove' | 'add' | 'wrap' | 'spread';
  name: string;
  value: Json;
}

export const damages: Arbitrary<Damage[]> = fc.array(
  fc.record<Damage>({
    at: fc.nat(1000),
    how: fc.constantFrom('replace', 'replace', 'remove', 'add', 'wrap', 'spread'),
    name: hostileName,
    value: hostileValue,
  }),
  { maxLength: 3 },
);

export function damage(original: Json, changes: readonly Damage[]): Json {
  return changes.reduce((value, change) => damageOnce(value, change), original);
}

function damageOnce(original: Json, { at, how, name, value }: Damage): Json {
  const paths = pathsIn(original);
  const target = paths[at % paths.length] ?? [];
  const change = (found: Json): Json | undefined => {
    if (how === 'remove') return undefined;
    if (how === 'wrap') return [found];
    if (how === 'spread' && Array.isArray(found)) return Object.fromEntries(found.entries());
    if (how !== 'add') return value;
    if (Array.isArray(found)) return [...found, value];
    return isTree(found) ? withMember(found, name, value) : value;
  };
  return changeAt(original, target, change) ?? null;
}

function isTree(value: Json): value is { [name: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw);
}

/** defineProperty, since assigning `__proto__` would set the prototype. */
function withMember(tree: { [name: string]: Json }, name: string, value: Json): { [name: string]: Json } {
  const copy = Object.fromEntries(Object.entries(tree));
  return Object.defineProperty(copy, name, { value, enumerable: true, configurable: true, writable: true });
}

function pathsIn(value: Json, path: string[] = []): string[][] {
  const isInner = Array.isArray(value) || isTree(value);
  const inner = isInner
    ? Object.entries(value).flatMap(([name, member]) => pathsIn(member, [...path, name]))
    : [];
  return [path, ...inner];
}

function changeAt(
  value: Json,
  path: readonly string[],
  change: (found: Json) => Json | undefined,
): Json | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  const members = Object.entries(value as object).flatMap(([key, member]: [string, Json]) => {
    const changed = key === name ? changeAt(member, rest, change) : member;
    return changed === undefined ? [] : [[key, changed] as const];
  });
  return Array.isArray(value) ? members.map(([, member]) => member) : Object.fromEntries(members);
}
