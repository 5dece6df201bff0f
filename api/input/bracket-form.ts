import { isUtf8 } from 'node:buffer';
import { decodePairs } from './decode-pairs.js';

/**
 * Parses Stripe's form encoding, such as `line_items[0][price_data][unit_amount]=1999`, into Maps, so that
 * `__proto__` and `constructor` are ordinary names. Contradictory input becomes an `Unreadable` that validation
 * reports. Runs in time linear in the number of bytes.
 */
type FormNode = string | FormTree | Unreadable;
export type FormTree = Map<string, FormNode>;

export class Unreadable {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** Trees that a name with `[]` appended to: lists, even where the schema has an object. */
const appended = new WeakSet<FormTree>();

export function isAppended(tree: unknown): boolean {
  return tree instanceof Map && appended.has(tree);
}

/** The depth of the longest parameter name: line_items[0][price_data][product_data][images][0]. */
const MAX_PARTS = 6;
/** The largest valid request has some 400 trees: four for each of 100 items. Further trees are not built. */
const MAX_TREES = 2000;

/** Undefined when the decoded bytes are not UTF-8. */
export function parseBracketForm(sent: Buffer): FormTree | undefined {
  const { bytes, pairs } = decodePairs(sent);
  if (!isUtf8(bytes)) return undefined;
  const form = new Form();
  for (const { start, equals, end } of pairs) {
    const name = bytes.toString('utf8', start, equals);
    if (name === '') continue;
    form.insert(splitName(name), equals < end ? bytes.toString('utf8', equals + 1, end) : '');
  }
  return form.root;
}

/** `a[b][]` → a, b, ''. A name with unbalanced brackets is one part. Parts beyond MAX_PARTS are dropped. */
function splitName(name: string): string[] {
  let open = name.indexOf('[');
  if (open <= 0) return [name];
  const parts = [name.slice(0, open)];
  while (open !== -1) {
    const close = name.indexOf(']', open);
    const next = name.indexOf('[', open + 1);
    // A bracket must close right before the next one opens, and the last one at the end of the name.
    if (close === -1 || (next === -1 ? name.length : next) !== close + 1) return [name];
    if (parts.length <= MAX_PARTS) parts.push(name.slice(open + 1, close));
    open = next;
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
      const key = part === '' && depth > 0 ? appendTo(tree, path.slice(depth + 1)) : part;
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

/** The index of an `a[]` in the list: the next free one, or the last element's while that lacks the field `rest`. */
function appendTo(list: FormTree, rest: readonly string[]): string {
  const isContinued = appended.has(list) && rest.length > 0 && lacks(list.get(String(list.size - 1)), rest);
  appended.add(list);
  return String(isContinued ? list.size - 1 : list.size);
}

function lacks(node: FormNode | undefined, [part, ...rest]: readonly string[]): boolean {
  if (part === undefined) return node === undefined;
  // A list takes any number of values.
  if (part === '') return node === undefined || isAppended(node);
  if (!(node instanceof Map)) return node === undefined;
  return lacks(node.get(part), rest);
}
