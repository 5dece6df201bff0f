import { Refusal } from '../../shared/errors/refusal.js';
import { MAX_MESSAGE_VALUES } from '../../shared/limits/bounds.js';
import { isJsonObject, type JsonObject } from '../../shared/values/json-object.js';

/** A message in two parts: `message` is for the SDK, `given` for the operation. */
interface TakenCall {
  message: JsonObject;
  given: JsonObject;
  /** A sentence about the form of a malformed call. */
  fault: string | undefined;
}

/**
 * Separates the arguments of a call, which the operation validates, from the message for the SDK. The SDK fails on
 * an argument named `constructor` and traverses its input several times, so the rest must be small. It calls parameters of the
 * wrong type an internal error, so these are judged here. Some clients send null for no arguments.
 */
export function takeArguments(sent: JsonObject): TakenCall {
  const params = isJsonObject(sent.params) ? sent.params : {};
  const { name } = params;
  const given = params.arguments ?? {};
  const isCall = sent.method === 'tools/call';
  const called = isCall ? { name: typeof name === 'string' ? name : '' } : {};
  const isTaken = isCall || isJsonObject(params.arguments);
  const message = isTaken ? { ...sent, params: { ...params, ...called, arguments: {} } } : sent;
  if (holdsMore(message, MAX_MESSAGE_VALUES)) {
    throw new Refusal(
      'body_too_large',
      `Beside a call's arguments a message must hold at most ${MAX_MESSAGE_VALUES} values.`,
    );
  }
  const fault = isCall ? whyNoCall(name, given) : undefined;
  return { message, given: isJsonObject(given) ? given : {}, fault };
}

function whyNoCall(name: unknown, given: unknown): string | undefined {
  if (typeof name !== 'string') return 'params.name must be a string: the name of a tool.';
  if (isJsonObject(given)) return undefined;
  return "params.arguments must be an object, with the tool's parameters by their names.";
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
