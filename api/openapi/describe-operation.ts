import type { TSchema } from 'typebox';
import { MAX_BODY_BYTES, MAX_BODY_DEPTH, MAX_BODY_VALUES } from '../../shared/limits/bounds.js';
import type { ResourceName } from './resource-schemas.js';

export interface ObjectSchema extends TSchema {
  properties: Record<string, TSchema>;
  required?: readonly string[] | undefined;
}

export interface Operation {
  id: string;
  summary: string;
  answer: ResourceName;
  query?: ObjectSchema;
  body?: ObjectSchema;
  pathId?: string;
  /** The error statuses, when not those of an operation with an id. */
  statuses?: readonly number[];
  /** Set when the operation takes a token instead of a checkout key. */
  security?: 'facilitatorToken';
  /** Description of the text/csv response, if there is one. */
  csv?: string;
}

export function describeOperation(
  { id, summary, answer, query, body, pathId, security, csv }: Operation,
  statuses: readonly number[],
): object {
  return {
    operationId: id,
    summary,
    ...(security !== undefined && { security: [{ [security]: [] }] }),
    parameters: [
      ...(pathId === undefined ? [] : [pathParameter(pathId)]),
      ...(body === undefined ? [] : [IDEMPOTENCY_KEY]),
      ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
        ...queryParameter(name, schema),
        ...(query?.required?.includes(name) && { required: true }),
      })),
    ],
    ...(body !== undefined && { requestBody: requestBody(body) }),
    responses: {
      200: answerOf(summary, answer, csv),
      ...Object.fromEntries(
        [...statuses, ...OF_EVERY_REQUEST].map((status) => [
          status,
          answerOf(ERROR_MEANINGS[status] ?? '', 'Error'),
        ]),
      ),
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A retry with the same key and body gets the first answer again, for 24 hours.',
  schema: { type: 'string', maxLength: 255 },
};

/** The statuses of requests that the connection refuses before they reach a path. */
const OF_EVERY_REQUEST = [408, 431];

const ERROR_MEANINGS: Record<number, string> = {
  400: 'A parameter is missing or not valid.',
  401: 'The key is missing, invalid or revoked.',
  403: 'The key only reads.',
  404: 'No object has this id in this mode.',
  408: 'The request took too long to arrive.',
  429: 'Too many requests, or a request that counts as too many; retry after Retry-After.',
  431: 'Too many headers, or too long ones.',
  500: 'A problem on the service side; retry.',
  503: 'The service is busy, or has no database to write to (`service_unavailable`); retry after Retry-After.',
};

function pathParameter(description: string): object {
  return { name: 'id', in: 'path', required: true, description, schema: { type: 'string' } };
}

function queryParameter(
  name: string,
  { description, ...schema }: TSchema & { description?: string },
): object {
  const isArray = 'type' in schema && schema.type === 'array';
  const holdsObject = 'anyOf' in schema;
  return {
    name: isArray ? `${name}[]` : name,
    in: 'query',
    ...(description !== undefined && { description }),
    ...(holdsObject && { style: 'deepObject' }),
    schema,
  };
}

function requestBody(schema: ObjectSchema): object {
  return {
    required: (schema.required ?? []).length > 0,
    description: BODY_LIMITS,
    content: {
      'application/json': { schema },
      'application/x-www-form-urlencoded': { schema },
    },
  };
}

const BODY_LIMITS = `Not compressed; at most ${MAX_BODY_BYTES / 1024 / 1024} MiB, ${MAX_BODY_VALUES} values, and ${MAX_BODY_DEPTH} levels deep.`;

function answerOf(description: string, name: ResourceName, csv?: string): object {
  return {
    description,
    headers: { 'Request-Id': { description: 'Give it to support.', schema: { type: 'string' } } },
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
      ...(csv !== undefined && { 'text/csv': { schema: { type: 'string', description: csv } } }),
    },
  };
}
