import { sha256 } from '../../shared/secrets.js';

/**
 * SHA-256 of a normalized input in a form that is equal for inputs of equal meaning: keys sorted, what was not
 * sent left out, and so are empty objects and arrays, which form encoding cannot send.
 */
export function fingerprint(input: unknown): Buffer {
  return sha256(JSON.stringify(canonical(input)) ?? '');
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((element) => canonical(element));
  if (typeof value !== 'object' || value === null) return value;
  const pairs = Object.entries(value)
    .map(([name, member]) => [name, canonical(member)] as const)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  // Pairs, not an object: integer-like keys would be sorted anew, and `__proto__` would vanish.
  return pairs.length === 0 ? undefined : { pairs };
}
