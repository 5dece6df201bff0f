import { Refusal } from '../../shared/errors/refusal.js';
import { MAX_MESSAGE_VALUES } from '../../shared/limits/bounds.js';
import { isJsonObject, type JsonObject } from '../../shared/x402/json-object.js';

/**
 * A call's arguments are the operation's to judge. The SDK gets none: it stumbles over one called `constructor`, and
 * looks at all that it gets many times over, so that the rest must be light.
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

/** Counts no further than it must. */
function holdsMore(value: unknown, most: number): boolean {
  let left = most;
  const isOneTooMany = (one: unknown): boolean => {
    left -= 1;
    return left < 0 || (typeof one === 'object' && one !== null && Object.values(one).some(isOneTooMany));
  };
  return isOneTooMany(value);
}
