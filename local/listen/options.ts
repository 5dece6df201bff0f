import { parseArgs } from 'node:util';
import { parseUrl } from '../../shared/values/parse-url.js';
import { EVENT_TYPES } from '../../shared/webhooks/event-types.js';

export const USAGE = `Usage: npm run -s listen -- --key svc_ck_test_… [--url http://localhost:3000] [--forward-to <url>] [--events a,b] [--print]

Follows the events of an account from now on.

  --key         a checkout key; a read-only key is enough
  --url         the service. Default http://localhost:3000
  --forward-to  posts each event there, signed as a webhook is, with a secret that is printed at the start
  --events      only these types: ${EVENT_TYPES.join(', ')}
  --print       each event as a line of JSON on standard output, and everything else on standard error
`;

export interface ListenOptions {
  key: string;
  /** The service's address, without a slash at the end. */
  url: string;
  forwardTo: string | undefined;
  /** Undefined: every type, including types of later releases. */
  types: ReadonlySet<string> | undefined;
  print: boolean;
}

/** A mistake in the command line, or a refusal by the service: one line that says what to do. */
export class Failure extends Error {
  override readonly name = 'Failure';
}

const OPTIONS = {
  key: { type: 'string' },
  url: { type: 'string' },
  'forward-to': { type: 'string' },
  events: { type: 'string' },
  print: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Undefined when help is asked for. */
export function parseListenOptions(argv: readonly string[]): ListenOptions | undefined {
  const values = readArguments(argv);
  if (values.help === true) return undefined;
  const { key, url = 'http://localhost:3000' } = values;
  if (key === undefined || key === '')
    throw new Failure('--key is missing: a checkout key, such as the test key that "npm start" prints.');
  return {
    key,
    url: readUrl('--url', url).replace(/\/+$/, ''),
    forwardTo: values['forward-to'] && readUrl('--forward-to', values['forward-to']),
    types: values.events === undefined ? undefined : readTypes(values.events),
    print: values.print === true,
  };
}

function readArguments(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, strict: true }).values;
  } catch (error) {
    throw new Failure(error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error));
  }
}

/** A URL without its scheme is read as http: `localhost:4343/hooks`. */
function readUrl(option: string, text: string): string {
  const url = parseUrl(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url.href;
  throw new Failure(`${option} must be an http or https URL; it is "${text}".`);
}

function readTypes(text: string): ReadonlySet<string> | undefined {
  const types = text.split(',').map((type) => type.trim());
  const known: readonly string[] = [...EVENT_TYPES, '*'];
  const unknown = types.find((type) => !known.includes(type));
  if (unknown !== undefined)
    throw new Failure(`--events has "${unknown}". The types are: ${EVENT_TYPES.join(', ')}.`);
  return types.includes('*') ? undefined : new Set(types);
}
