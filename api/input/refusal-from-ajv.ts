import type { ErrorObject } from 'ajv';
import { Refusal, type RefusalCode } from '../../shared/errors/refusal.js';
import { isJsonObject } from '../../shared/values/json-object.js';
import { paramName, sentIndex } from './normalize.js';

type Explanation = [code: RefusalCode, sentence: string];

/** Turns the most specific validation error into a refusal that names the parameter and says what to change. */
export function refusalFromAjv(errors: readonly ErrorObject[], input: unknown): Refusal {
  const error = errors.find((candidate) => !isOfOtherBranch(candidate, input)) ?? errors[0];
  if (error === undefined) throw new Error('validation failed without an error');
  const path = pathOf(error, input);
  const param = paramName(path);
  if (path.length === 0)
    return new Refusal('parameter_invalid', 'The request body must be an object of parameters.');
  const [code, sentence] = explain(error, param);
  return new Refusal(code, sentence, { param });
}

/** ajv reports every branch of a union. Errors of branches for another type than the value are ignored. */
function isOfOtherBranch(
  { keyword, params, instancePath, schemaPath }: ErrorObject,
  input: unknown,
): boolean {
  if (keyword === 'anyOf') return true;
  if (!/\/anyOf\/\d+\/type$/.test(schemaPath)) return false;
  const value = instancePath.split('/').slice(1).reduce(memberOf, input);
  return params.type === 'null' || (params.type === 'object') !== isJsonObject(value);
}

function memberOf(node: unknown, segment: string): unknown {
  const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
  return typeof node === 'object' && node !== null ? Reflect.get(node, name) : undefined;
}

function pathOf(error: ErrorObject, input: unknown): string[] {
  const path: string[] = [];
  let node = input;
  for (const segment of error.instancePath.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(Array.isArray(node) ? sentIndex(node, name) : name);
    node = memberOf(node, segment);
  }
  const { missingProperty, additionalProperty } = error.params;
  if (error.keyword === 'required') path.push(String(missingProperty));
  if (error.keyword === 'additionalProperties') path.push(String(additionalProperty));
  if (error.propertyName !== undefined) path.push(error.propertyName);
  return path;
}

function explain(error: ErrorObject, param: string): Explanation {
  const { limit, allowedValues, allowedValue, type, format } = error.params;
  switch (error.keyword) {
    case 'required':
      return ['parameter_missing', `${param} is missing. Send it: it is required.`];
    case 'additionalProperties':
      return ['parameter_unknown', `${param} is not a parameter of this request. Remove it.`];
    case 'type':
      return explainType(String(type), param);
    case 'minimum':
      return ['parameter_invalid_integer', `${param} must be at least ${limit}.`];
    case 'maximum':
      return ['parameter_invalid_integer', `${param} must be at most ${limit}.`];
    case 'enum':
      return ['parameter_invalid_enum', `${param} must be one of: ${list(allowedValues)}.`];
    case 'const':
      return ['parameter_invalid_enum', `${param} must be ${allowedValue}.`];
    case 'maxLength':
      return ['parameter_invalid_string', `${param} must be at most ${limit} characters long.`];
    case 'minItems':
      return ['parameter_missing', `${param} must hold at least ${limit} element${limit === 1 ? '' : 's'}.`];
    case 'pattern':
      return ['parameter_invalid_integer', `${param} must be whole cents, written as digits only.`];
    case 'format':
      return explainFormat(String(format), param);
    default:
      return ['parameter_invalid', `${param} is not valid.`];
  }
}

function explainType(type: string, param: string): Explanation {
  switch (type) {
    case 'integer':
      return ['parameter_invalid_integer', `${param} must be an integer.`];
    case 'boolean':
      return ['parameter_invalid', `${param} must be true or false.`];
    case 'array':
      return ['parameter_invalid', `${param} must be an array.`];
    case 'object':
      return ['parameter_invalid', `${param} must be an object.`];
    default:
      return ['parameter_invalid', `${param} must be a string.`];
  }
}

function explainFormat(format: string, param: string): Explanation {
  switch (format) {
    case 'email':
      return ['email_invalid', `${param} must be an e-mail address, such as buyer@example.com.`];
    case 'https-url':
      return ['url_invalid', httpsUrlWanted(param)];
    case 'webhook-url':
      return [
        'url_invalid',
        `${param} must be a complete https URL (in test mode also http), such as https://example.com/webhooks.`,
      ];
    default:
      return [
        'url_invalid',
        `${param} must be a complete http or https URL, such as https://example.com/thanks.`,
      ];
  }
}

export function notAnHttpsUrl(param: string): Refusal {
  return new Refusal('url_invalid', httpsUrlWanted(param), { param });
}

function httpsUrlWanted(param: string): string {
  return `${param} must be a complete https URL, such as https://example.com/picture.png.`;
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values);
}
