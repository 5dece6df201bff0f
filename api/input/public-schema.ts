import type { SchemaNode } from './normalize.js';

/**
 * The part of this API's formats that a standard keyword can express. `uri` would refuse international host names, and the
 * placeholder in a `success_url`.
 */
const PATTERNS: Readonly<Record<string, string>> = {
  'http-url': '^[hH][tT][tT][pP][sS]?://',
  'webhook-url': '^[hH][tT][tT][pP][sS]?://',
  'https-url': '^[hH][tT][tT][pP][sS]://',
};

const OWN_KEYWORD: keyof SchemaNode = 'lowerCase';

/** A copy with standard keywords and formats only, since readers may refuse others. */
export function publicSchema<Schema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_name, value) => {
    const pattern = PATTERNS[value?.format];
    if (pattern === undefined && value?.[OWN_KEYWORD] !== true) return value;
    const { format, [OWN_KEYWORD]: _, ...others } = value;
    return pattern === undefined ? { ...others, ...(format && { format }) } : { ...others, pattern };
  });
}
