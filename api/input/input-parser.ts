import type { ValidateFunction } from 'ajv';
import type { Static, TSchema } from 'typebox';
import { ajv } from './formats.js';
import { normalize, type RawInput, type SchemaNode } from './normalize.js';
import { refusalFromAjv } from './refusal-from-ajv.js';
import { strictObject } from './strict-object.js';

export type InputParser<T> = (input: RawInput) => T;

/**
 * Returns a parser that yields typed input or throws a refusal that names the parameter. The schema is compiled
 * with the first input: compiling all of them would delay the start of the process.
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

/** Parses the input of operations without parameters: any parameter is refused as unknown. */
export const parseNothing = inputParser(strictObject({}));
