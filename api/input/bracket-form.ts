import { isUtf8 } from 'node:buffer';

/**
 * Stripe's form encoding: `line_items[0][price_data][unit_amount]=1999`. Parsed into Maps, so that no name
 * (`__proto__`, `constructor`) is special and nothing sent is lost: what does not fit together becomes an
 * `Unreadable` for validation to name. Linear in the number of bytes.
 */
type FormNode = string | FormTree | Unreadable;
export type FormTree = Map<string, FormNode>;

export class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Trees that `[]` was appended to: lists, whatever the schema hoped for. */
const appended = new WeakSet<FormTree>();

export function isAppended(tree: unknown): boolean {
  return tree instanceof Map && appended.has(tree);
}

/** The deepest name of the API has as many parts: line_items[0][price_data][product_data][images][0]. */
const MAX_PARTS = 6;
/** The largest legal request makes some 400: four for each of 100 items. What is beyond is wrong, and is not built. */
const MAX_TREES = 2000;

/** Undefined when its percent-encoding is not that of UTF-8 text. */
export function parseBracketForm(sent: Uint8Array): FormTree | undefined {
  const { bytes, pairs } = decodePairs(sent);
  if (!isUtf8(bytes)) return undefined;
  const form = new Form();
  for (const { start, equals, end } of pairs) {
    const name = bytes.toString('utf8', start, equals);
    if (name !== '') form.insert(splitName(name), bytes.toString('utf8', equals + 1, end));
  }
  return form.root;
}

/** Where a pair begins, where its name ends, and where it ends itself, in the decoded bytes. */
interface Pair {
  start: number;
  equals: number;
  end: number;
}

const SPACE = 0x20;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const EQUALS = 0x3d;

/** Decodes all in one pass. What parts names and values stays among the bytes, so that no character goes over it. */
function decodePairs(sent: Uint8Array): { bytes: Buffer; pairs: Pair[] } {
  const bytes = Buffer.allocUnsafe(sent.length);
  const pairs: Pair[] = [];
  let length = 0;
  let start = 0;
  let equals = -1;
  const endPair = (): void => {
    pairs.push({ start, equals: equals === -1 ? length : equals, end: length });
    start = length + 1;
    equals = -1;
  };
  for (let at = 0; at < sent.length; at += 1) {
    let byte = sent[at] as number;
    if (byte === PERCENT) {
      // A percent sign that begins no escape stands for itself, as in browsers.
      if (at + 2 < sent.length) {
        const escaped =
          (HEX[sent[at + 1] as number] as number) * 16 + (HEX[sent[at + 2] as number] as number);
        if (escaped >= 0) {
          byte = escaped;
          at += 2;
        }
      }
    } else if (byte === PLUS) {
      byte = SPACE;
    } else if (byte === AMPERSAND) {
      endPair();
    } else if (byte === EQUALS && equals === -1) {
      equals = length;
    }
    bytes[length] = byte;
    length += 1;
  }
  endPair();
  return { bytes: bytes.subarray(0, length), pairs };
}

/** What each byte is as a hexadecimal digit; so little that no sum of two is positive where one is none. */
const HEX = Int16Array.from({ length: 256 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? -1000 : digit;
});

/** `a[b][]` → a, b, ''. A name whose brackets do not pair up is taken as it stands. What goes too deep is left out. */
function splitName(name: string): string[] {
  let open = name.indexOf('[');
  if (open <= 0) return [name];
  const parts = [name.slice(0, open)];
  while (open < name.length) {
    const close = name.indexOf(']', open);
    if (name[open] !== '[' || close === -1 || name.lastIndexOf('[', close) !== open) return [name];
    if (parts.length <= MAX_PARTS) parts.push(name.slice(open + 1, close));
    open = close + 1;
  }
  return parts;
}

class Form {
  readonly root: FormTree = new Map();
  #trees = 0;

  insert(path: readonly string[], value: string): void {
    let tree = this.root;
    const last = path.length - 1;
    for (let depth = 0; depth <= last; depth++) {
      const part = path[depth] ?? '';
      // `a[]` appends: it takes the next free index.
      const appends = part === '' && depth > 0;
      if (appends) appended.add(tree);
      const key = appends ? String(tree.size) : part;
      const existing = tree.get(key);
      if (depth === MAX_PARTS) {
        tree.set(key, new Unreadable('is nested too deeply'));
      } else if (depth === last) {
        tree.set(key, existing === undefined ? value : new Unreadable('is sent more than once'));
      } else {
        const next = existing ?? this.#newTree();
        if (existing === undefined) tree.set(key, next);
        else if (typeof existing === 'string') {
          tree.set(key, new Unreadable('is sent both as a value and with brackets'));
        }
        if (!(next instanceof Map)) return;
        tree = next;
      }
    }
  }

  #newTree(): FormNode {
    this.#trees += 1;
    return this.#trees > MAX_TREES ? new Unreadable('is more than a request may hold') : new Map();
  }
}
