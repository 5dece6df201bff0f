import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { formText } from '../api-client.js';
import {
  damage,
  damages,
  hostileName,
  hostileText,
  hostileValue,
  type Json,
  jsonText,
  Raw,
  rarely,
} from './hostile-values.js';

export interface Schema {
  type?: string;
  const?: Json;
  enum?: Json[];
  anyOf?: Schema[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: Schema;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
}

/** Mostly valid values for a schema. */
export function allowed(schema: Schema): Arbitrary<Json> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(allowed));
  switch (schema.type) {
    case 'object':
      return allowedObject(schema);
    case 'array':
      return fc.array(allowed(schema.items ?? {}), {
        minLength: 1,
        maxLength: Math.min(3, schema.maxItems ?? 3),
      });
    case 'integer':
      return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1000, 100_000) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return allowedText(schema);
  }
}

function allowedObject({ properties = {}, required = [], additionalProperties }: Schema): Arbitrary<Json> {
  if (typeof additionalProperties === 'object') {
    return fc
      .dictionary(hostileName, allowed(additionalProperties), { maxKeys: 3 })
      .map((found) => ({ ...found }));
  }
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, allowed(schema)]),
  );
  return fc.record(members, { requiredKeys: required });
}

function allowedText({ format, pattern }: Schema): Arbitrary<Json> {
  if (format === 'email') return fc.constantFrom('never-in-a-log@mail.example');
  if (format !== undefined)
    return fc.constantFrom('https://1.1.1.1/a', 'https://shop.example/{CHECKOUT_SESSION_ID}');
  if (pattern !== undefined) return fc.nat(99_999).map(String);
  return fc.oneof(hostileText, fc.constant('Coffee'));
}

/** A valid value, a damaged one, or an unrelated one. */
export const bodyOf = (schema: Schema): Arbitrary<Json> =>
  fc.oneof(
    {
      weight: 30,
      arbitrary: fc.tuple(allowed(schema), damages).map(([value, changes]) => damage(value, changes)),
    },
    { weight: 1, arbitrary: hostileValue },
  );

export interface Encoded {
  body: Buffer | undefined;
  headers: [name: string, value: string][];
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

const TYPES = fc.constantFrom(
  JSON_TYPE,
  FORM_TYPE,
  'text/plain',
  'multipart/form-data; boundary=x',
  '',
  'a/b+json',
);
const FORM_PAIRS = fc.constantFrom(
  'line_items[]=1',
  'line_items[a][b]=1',
  'line_items[99999]=',
  'metadata=1',
  'metadata[__proto__]=1',
  '__proto__[polluted]=1',
  'constructor[prototype][polluted]=1',
  'mode=payment&mode=payment',
  '=',
  '&&&',
  '%',
  '%ff=%ff',
  '%00=%00',
  `a${'[x]'.repeat(500)}=1`,
  'a[b=1',
  'expand=line_items',
);

/** Encodes as JSON or as a form, rarely truncated or altered. */
export function encode(body: Json): Arbitrary<Encoded> {
  const isTree = typeof body === 'object' && body !== null && !(body instanceof Raw) && !Array.isArray(body);
  return fc
    .record({
      asForm: fc.boolean(),
      pair: rarely(4, FORM_PAIRS),
      /** Rarely, so that most bodies stay intact. */
      cutAt: rarely(30, fc.nat(300)),
      flip: rarely(30, fc.tuple(fc.nat(500), fc.nat(255))),
      type: rarely(30, TYPES),
      zipped: fc.integer({ min: 0, max: 19 }),
    })
    .map(({ asForm, pair, cutAt, flip, type, zipped }) => {
      // Raw JSON and lone surrogates cannot be sent in a form.
      const json = jsonText(body);
      const isForm = asForm && isTree && isPlain(body) && !/\\ud[89a-f]/.test(json);
      let bytes = Buffer.from(isForm ? [formText(body), ...(pair === null ? [] : [pair])].join('&') : json);
      if (cutAt !== null) bytes = bytes.subarray(0, cutAt);
      if (flip !== null && bytes.length > 0) bytes[flip[0] % bytes.length] = flip[1];
      const isZipped = zipped === 0;
      return {
        body: isZipped ? gzipSync(bytes) : bytes,
        headers: [
          ['Content-Type', type ?? (isForm ? FORM_TYPE : JSON_TYPE)],
          ...(isZipped ? [['Content-Encoding', 'gzip'] as [string, string]] : []),
        ],
      };
    });
}

function isPlain(value: Json): boolean {
  if (value instanceof Raw) return false;
  return typeof value !== 'object' || value === null || Object.values(value).every(isPlain);
}
