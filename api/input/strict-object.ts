import { Type } from 'typebox';

/** An object without other members than these. */
export const strictObject = <P extends Type.TProperties>(properties: P) =>
  Type.Object(properties, { additionalProperties: false });
