/**
 * Stripe's form encoding: `line_items[0][price_data][unit_amount]=1999`. Parsed into Maps, so that no name
 * (`__proto__`, `constructor`) is special and nothing sent is lost: what does not fit together becomes an
 * `Unreadable` for validation to name. Linear in the number of pairs.
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

/** The deepest name of the API has six parts: line_items[0][price_data][product_data][images][0]. */
const MAX_DEPTH = 10;

/** Undefined when its percent-encoding is not that of UTF-8 text. */
export function parseBracketForm(text: string): FormTree | undefined {
  const root: FormTree = new Map();
  for (const pair of text.split('&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? '' : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    if (name !== '') insert(root, splitName(name), value);
  }
  return root;
}

/** A percent sign that begins no escape stands for itself, as in browsers; bytes that are no UTF-8 are no text. */
function decode(encoded: string): string | undefined {
  const text = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded;
  if (!text.includes('%')) return text;
  return decodeEscapes(text) ?? decodeEscapes(text.replaceAll(/%(?![0-9a-f]{2})/gi, '%25'));
}

function decodeEscapes(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** `a[b][]` → a, b, ''. A name whose brackets do not pair up is taken as it stands. */
function splitName(name: string): string[] {
  let open = name.indexOf('[');
  if (open <= 0) return [name];
  const parts = [name.slice(0, open)];
  while (open < name.length) {
    const close = name.indexOf(']', open);
    const part = name.slice(open + 1, close);
    if (name[open] !== '[' || close === -1 || part.includes('[')) return [name];
    parts.push(part);
    open = close + 1;
  }
  return parts;
}

function insert(root: FormTree, path: string[], value: string): void {
  let tree = root;
  const last = path.length - 1;
  for (let depth = 0; depth <= last; depth++) {
    const part = path[depth] ?? '';
    // `a[]` appends: it takes the next free index.
    const appends = part === '' && depth > 0;
    if (appends) appended.add(tree);
    const key = appends ? String(tree.size) : part;
    const existing = tree.get(key);
    if (depth === last) {
      tree.set(key, existing === undefined ? value : new Unreadable('is sent more than once'));
    } else if (depth === MAX_DEPTH) {
      tree.set(key, new Unreadable('is nested too deeply'));
      return;
    } else if (existing === undefined) {
      const child: FormTree = new Map();
      tree.set(key, child);
      tree = child;
    } else if (existing instanceof Map) {
      tree = existing;
    } else {
      tree.set(key, new Unreadable('is sent both as a value and with brackets'));
      return;
    }
  }
}
