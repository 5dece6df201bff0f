import { Type } from 'typebox';

/** An empty value leaves its key out. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 50,
  propertyNames: { type: 'string', maxLength: 40 },
  additionalProperties: { type: 'string', maxLength: 500 },
  description: 'Your own keys and values. Buyers never see them.',
});
