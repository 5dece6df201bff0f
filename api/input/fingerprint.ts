import { sha256 } from '../../shared/secrets/secrets.js';

/**
 * SHA-256 of a normalized input in a form that is equal for inputs of equal meaning: keys sorted, what was not
 * sent left out, and so are empty objects and arrays, which form encoding cannot send.
 */
export function fingerprint(input: unknown): Buffer {
  return sha256(canonical(input));
}

/** JSON, or nothing. Objects as pairs, so that integer-like keys are not sorted anew and `__proto__` does not vanish. */
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
