import { type Static, type TSchema, Type } from 'typebox';
import { ajv } from './formats.js';
import { normalize, type RawInput, type SchemaNode } from './normalize.js';
import { refusalFromAjv } from './refusal-from-ajv.js';

export type InputParser<T> = (input: RawInput) => T;

/** Compiles a schema once; the parser gives typed input or throws the refusal that names the parameter. */
export function inputParser<S extends TSchema>(schema: S): InputParser<Static<S>> {
  const validate = ajv.compile<Static<S>>(schema);
  const node = schema as SchemaNode;
  return (input) => {
    const value = normalize(node, input);
    if (validate(value)) return value;
    throw refusalFromAjv(validate.errors ?? [], value);
  };
}

/** For what takes no parameters: each that is sent is unknown. */
export const parseNothing = inputParser(Type.Object({}, { additionalProperties: false }));
