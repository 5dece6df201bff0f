import { Refusal } from '../../shared/errors/refusal.js';
import { isJsonObject } from '../../shared/values/json-object.js';
import { type FormTree, isAppended, Unreadable } from './bracket-form.js';

/** The subset of JSON Schema that the inputs of this API use. */
export interface SchemaNode {
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'null';
  properties?: Record<string, SchemaNode>;
  required?: readonly string[];
  additionalProperties?: boolean | SchemaNode;
  items?: SchemaNode;
  maxItems?: number;
  maxProperties?: number;
  anyOf?: readonly SchemaNode[];
  /** Whether an enum is compared in lower case, as Stripe does with currencies. */
  lowerCase?: boolean;
}

/** A request before validation. All values of a form are strings. */
export type RawInput = { encoding: 'json'; value: unknown } | { encoding: 'form'; value: FormTree };

/**
 * Converts JSON or a form into the shape that validation and operations work on: digits in a form become integers
 * where the schema has them, `''` and `null` become absent (or null, where an update may clear), form maps become
 * arrays, and objects have no prototype. It follows the schema, so depth and size of unexpected input do not
 * matter; what does not match is left for validation to report.
 */
export function normalize(schema: SchemaNode, input: RawInput): unknown {
  return new Walker(input.encoding === 'form').walk(schema, input.value, undefined);
}

/** The indexes that a form used for an array: `items[5]` alone becomes element 0, but errors must name it 5. */
const formIndexes = new WeakMap<object, string[]>();

export function sentIndex(array: object, position: string): string {
  return formIndexes.get(array)?.[Number(position)] ?? position;
}

/** The names on the way to a value, the last one first. They are joined for an invalid value only: a body has up to a million. */
type Path = { readonly name: string; readonly within: Path } | undefined;

function nameOf(path: Path): string {
  const parts: string[] = [];
  for (let part = path; part !== undefined; part = part.within) parts.unshift(part.name);
  return paramName(parts);
}

class Walker {
  private readonly isForm: boolean;

  constructor(isForm: boolean) {
    this.isForm = isForm;
  }

  walk(schema: SchemaNode, value: unknown, path: Path): unknown {
    if (value instanceof Unreadable) {
      const param = nameOf(path);
      throw new Refusal('parameter_invalid', `${param} ${value.why}. Send it once.`, { param });
    }
    if (schema.anyOf !== undefined) return this.walk(chooseBranch(schema.anyOf, value), value, path);
    switch (schema.type) {
      case 'object':
        return this.walkObject(schema, value, path);
      case 'array':
        return this.walkArray(schema, value, path);
      case 'integer':
        // `+ 0` makes `-0` zero.
        return this.isForm && typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) + 0 : value;
      case 'boolean':
        return this.isForm && (value === 'true' || value === 'false') ? value === 'true' : plain(value);
      default:
        if (typeof value !== 'string') return plain(value);
        requireReadableText(value, path);
        return schema.lowerCase ? value.toLowerCase() : value;
    }
  }

  private walkObject(schema: SchemaNode, value: unknown, path: Path): unknown {
    // A tree built with `[]` is a list: an array to validation, which then reports it.
    if (isAppended(value)) return [];
    const entries = entriesOf(value);
    if (entries === undefined) return value;
    const result: Record<string, unknown> = Object.create(null);
    let hasUnknown = false;
    let count = 0;
    const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
    for (const [name, member] of entries) {
      const known = schema.properties !== undefined && Object.hasOwn(schema.properties, name);
      const property = known ? schema.properties?.[name] : others;
      const memberPath = { name, within: path };
      if (property === undefined) {
        // Validation reports the first unknown name; its value and further unknown names are dropped.
        if (!hasUnknown) result[name] = true;
        hasUnknown = true;
      } else if (member === '' || member === null || isClearedList(property, member)) {
        if (schema.required?.includes(name)) throw emptyValue(memberPath);
        if (isClearable(property)) result[name] = null;
      } else {
        if (!known) requireReadableText(name, path);
        result[name] = this.walk(property, member, memberPath);
        count += 1;
        if (count > (schema.maxProperties ?? Infinity)) throw tooMany(path, schema.maxProperties, 'keys');
      }
    }
    return result;
  }

  private walkArray({ items = {}, maxItems }: SchemaNode, value: unknown, path: Path): unknown {
    const [elements, indexes] = this.elementsOf(value);
    if (elements === undefined) return plain(value);
    if (elements.length > (maxItems ?? Infinity)) throw tooMany(path, maxItems, 'elements');
    const result = elements.map((element, position) => {
      const elementPath = { name: indexes?.[position] ?? String(position), within: path };
      if (element === '' || element === null) throw emptyValue(elementPath);
      return this.walk(items, element, elementPath);
    });
    if (indexes !== undefined) formIndexes.set(result, indexes);
    return result;
  }

  private elementsOf(value: unknown): [elements?: unknown[], indexes?: string[]] {
    if (Array.isArray(value)) return [value];
    // A form may send `a=` for `a[0]=`.
    if (this.isForm && typeof value === 'string') return [[value]];
    if (!(value instanceof Map)) return [];
    const indexes = [...value.keys()];
    if (!indexes.every((index) => /^\d{1,9}$/.test(index))) return [];
    indexes.sort((a, b) => Number(a) - Number(b));
    return [indexes.map((index) => value.get(index)), indexes];
  }
}

/** Only two kinds of union occur: "this or null" and "a number or an object of bounds". */
function chooseBranch(branches: readonly SchemaNode[], value: unknown): SchemaNode {
  const objects = branches.find((branch) => branch.type === 'object');
  const others = branches.find((branch) => branch.type !== 'object' && branch.type !== 'null');
  return (entriesOf(value) !== undefined ? objects : others) ?? others ?? objects ?? {};
}

function isClearable({ anyOf = [] }: SchemaNode): boolean {
  return anyOf.some((branch) => branch.type === 'null');
}

/** `[]` clears a list as null does. Forms cannot send it, and a fingerprint takes it for absent. */
function isClearedList(schema: SchemaNode, value: unknown): boolean {
  const isEmpty = Array.isArray(value) && value.length === 0;
  return isEmpty && isClearable(schema) && chooseBranch(schema.anyOf ?? [], value).type === 'array';
}

function entriesOf(value: unknown): Iterable<[string, unknown]> | undefined {
  if (value instanceof Map) return value;
  return isJsonObject(value) ? membersOf(value) : undefined;
}

/** A generator, so that a caller which stops early does not build all entries. */
function* membersOf(value: object): Iterable<[string, unknown]> {
  for (const name of Object.keys(value)) yield [name, Reflect.get(value, name)];
}

/** Replaces a form's Map by an object where the schema has another type, for validation to report. */
function plain(value: unknown): unknown {
  return value instanceof Map ? {} : value;
}

/** Postgres cannot store U+0000, and lone surrogates are not valid Unicode. */
function requireReadableText(text: string, path: Path): void {
  if (text.isWellFormed() && !text.includes('\0')) return;
  const param = nameOf(path);
  throw new Refusal(
    'parameter_invalid_string',
    `${param} contains a character that is not text (U+0000 or half of a surrogate pair). Remove it.`,
    { param },
  );
}

function emptyValue(path: Path): Refusal {
  const param = nameOf(path);
  return new Refusal('parameter_invalid_empty', `${param} is empty. It is required: send a value for it.`, {
    param,
  });
}

function tooMany(path: Path, limit: number | undefined, what: 'elements' | 'keys'): Refusal {
  const param = nameOf(path);
  return new Refusal('parameter_invalid', `${param} may hold at most ${limit} ${what}.`, { param });
}

/**
 * Formats a parameter name like Stripe: `line_items[0][price_data][unit_amount]`. Truncated, since it comes from
 * the client.
 */
export function paramName(path: readonly string[]): string {
  const [first = '', ...rest] = path;
  return (first + rest.map((part) => `[${part}]`).join('')).slice(0, 300);
}
