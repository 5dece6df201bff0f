import { isJsonObject, type JsonObject } from '../values/json-object.js';

/**
 * x402's extension `payment-identifier`: a buyer that names its payment may send it again after a lost answer. An echo of
 * our declaration without an `id` names nothing.
 */
export const PAYMENT_IDENTIFIER = 'payment-identifier';

const MIN_LENGTH = 16;
const MAX_LENGTH = 128;
const PATTERN = '^[a-zA-Z0-9_-]+$';
const IDENTIFIER = new RegExp(PATTERN);

/** Part of `extensions` in every 402. */
export const PAYMENT_IDENTIFIER_DECLARATION = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: MIN_LENGTH, maxLength: MAX_LENGTH, pattern: PATTERN },
    },
    required: ['required'],
  },
} as const;

type PaymentIdentifier = { ok: true; id: string | undefined } | { ok: false; reason: string };

const NONE: PaymentIdentifier = { ok: true, id: undefined };

/** A malformed identifier is refused, not ignored: its buyer relies on it when an answer is lost. */
export function readPaymentIdentifier(extensions: unknown): PaymentIdentifier {
  if (!isJsonObject(extensions)) return NONE;
  const extension = ownMember(extensions, PAYMENT_IDENTIFIER);
  if (extension === undefined || extension === null) return NONE;
  if (!isJsonObject(extension)) return refused(`must be an object that holds \`info\``);
  const info = ownMember(extension, 'info');
  if (info === undefined || info === null) return NONE;
  if (!isJsonObject(info)) return refused('needs an object as its `info`');
  const id = ownMember(info, 'id');
  if (id === undefined || id === null) return NONE;
  const isValid =
    typeof id === 'string' && id.length >= MIN_LENGTH && id.length <= MAX_LENGTH && IDENTIFIER.test(id);
  return isValid
    ? { ok: true, id }
    : refused(
        `needs an \`info.id\` of ${MIN_LENGTH} to ${MAX_LENGTH} letters, digits, hyphens and underscores`,
      );
}

function ownMember(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function refused(rule: string): PaymentIdentifier {
  return { ok: false, reason: `The extension \`${PAYMENT_IDENTIFIER}\` ${rule}.` };
}
