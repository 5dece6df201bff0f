import type { ValidateFunction } from 'ajv';
import { type Static, type TSchema, Type } from 'typebox';
import { ajv } from './formats.js';
import { normalize, type RawInput, type SchemaNode } from './normalize.js';
import { refusalFromAjv } from './refusal-from-ajv.js';

export type InputParser<T> = (input: RawInput) => T;

/**
 * The parser gives typed input or throws the refusal that names the parameter. Its schema is compiled once, with the first
 * input: all of them together would hold up the start of a process, and most are for what is seldom asked.
 */
export function inputParser<S extends TSchema>(schema: S): InputParser<Static<S>> {
  const node = schema as SchemaNode;
  let validate: ValidateFunction<Static<S>> | undefined;
  return (input) => {
    validate ??= ajv.compile<Static<S>>(schema);
    const value = normalize(node, input);
    if (validate(value)) return value;
    throw refusalFromAjv(validate.errors ?? [], value);
  };
}

/** For what takes no parameters: each that is sent is unknown. */
export const parseNothing = inputParser(Type.Object({}, { additionalProperties: false }));
