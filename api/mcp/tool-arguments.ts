import { Type } from 'typebox';
import type { JsonObject } from '../../shared/values/json-object.js';
import { inputParser } from '../input/input-parser.js';
import type { RawInput } from '../input/normalize.js';
import { strictObject } from '../input/strict-object.js';
import type { Call } from '../v1/operation/operation.js';
import type { MerchantTool } from './merchant-tool.js';

const parseId = inputParser(strictObject({ id: Type.String() }));
/** The operation checks the length of the key. */
const parseKey = inputParser(strictObject({ idempotency_key: Type.Optional(Type.String()) }));

/** Splits the arguments of a tool into path id, Idempotency-Key and parameters, which /v1 takes separately. */
export function placeArguments(
  tool: MerchantTool,
  given: JsonObject,
): Omit<Call, 'principal' | 'hasLargeBody'> {
  const others = { ...given };
  const take = (name: string): RawInput => {
    const value = Object.hasOwn(others, name) ? { [name]: others[name] } : {};
    delete others[name];
    return { encoding: 'json', value };
  };
  const id = tool.id === undefined ? '' : parseId(take('id')).id;
  const idempotencyKey = takesKey(tool) ? parseKey(take('idempotency_key')).idempotency_key : undefined;
  const path = `/v1${tool.path.replace('{id}', () => encodeURIComponent(id))}`;
  return { id, idempotencyKey, path, wantsCsv: false, input: { encoding: 'json', value: others } };
}

const IDEMPOTENCY_KEY = Type.String({
  maxLength: 255,
  description:
    'Makes the call safe to repeat, as the Idempotency-Key header of the REST API does. Choose a random one (a UUID) for each thing you mean to do. For 24 hours the same key with the same arguments answers with the first result again and does nothing more; with other arguments it is refused.',
});

/** The input schema of a tool, built from the schemas that validate requests. */
export function inputSchema(tool: MerchantTool) {
  const { properties = {}, required = [] } = tool.parameters ?? {};
  return {
    type: 'object' as const,
    properties: {
      ...(tool.id !== undefined && { id: Type.String({ description: tool.id }) }),
      ...properties,
      ...(takesKey(tool) && { idempotency_key: IDEMPOTENCY_KEY }),
    },
    required: [...(tool.id === undefined ? [] : ['id']), ...required],
    additionalProperties: false,
  };
}

/** Every POST accepts an idempotency key. */
function takesKey({ method }: MerchantTool): boolean {
  return method === 'POST';
}
