import { Refusal } from '../../shared/errors/refusal.js';
import { MAX_MESSAGE_VALUES } from '../../shared/limits/bounds.js';
import { isJsonObject, type JsonObject } from '../../shared/x402/json-object.js';

/**
 * Separates the arguments of a call, which the operation validates, from the message for the SDK. The SDK fails on
 * an argument named `constructor` and traverses its input several times, so the rest must be small.
 */
export function takeArguments(message: JsonObject): [message: JsonObject, given: JsonObject] {
  const { params } = message;
  const isCall = isJsonObject(params) && isJsonObject(params.arguments);
  const rest = isCall ? { ...message, params: { ...params, arguments: {} } } : message;
  if (holdsMore(rest, MAX_MESSAGE_VALUES)) {
    throw new Refusal(
      'body_too_large',
      `Beside a call's arguments a message must hold at most ${MAX_MESSAGE_VALUES} values.`,
    );
  }
  return [rest, isCall && isJsonObject(params.arguments) ? params.arguments : {}];
}

/** Stops counting at the limit. */
function holdsMore(value: unknown, limit: number): boolean {
  let left = limit;
  const isOneTooMany = (one: unknown): boolean => {
    left -= 1;
    return left < 0 || (typeof one === 'object' && one !== null && Object.values(one).some(isOneTooMany));
  };
  return isOneTooMany(value);
}
