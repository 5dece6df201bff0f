import { sha256 } from '../../shared/secrets/secrets.js';

/**
 * SHA-256 of a normalized input, equal for inputs of equal meaning: keys are sorted, and absent values and empty
 * objects and arrays, which form encoding cannot send, are left out.
 */
export function fingerprint(input: unknown): Buffer {
  return sha256(canonical(input));
}

/**
 * JSON, or an empty string. Objects become pairs, since JavaScript would reorder integer-like keys and drop
 * `__proto__`.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? '' : `[${value.map((element) => canonical(element) || 'null').join()}]`;
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  let pairs = '';
  for (const name of Object.keys(value).sort()) {
    const member = canonical(Reflect.get(value, name));
    if (member !== '') pairs += `${pairs === '' ? '' : ','}[${JSON.stringify(name)},${member}]`;
  }
  return pairs === '' ? '' : `{"pairs":[${pairs}]}`;
}
