import type { ValidateFunction } from 'ajv';
import { Refusal } from '../../../shared/errors/refusal.js';
import { judgeWebhookUrl, type UrlVerdict } from '../../../shared/values/public-address.js';
import { ajv } from '../../input/formats.js';
import { openUrlLookups } from './url-lookups.js';

/** A host that does not resolve in time is accepted: every delivery checks the address again. */
const RESOLVE_TIMEOUT_MS = 2000;

const lookupsOf = openUrlLookups(RESOLVE_TIMEOUT_MS);

type Reason = Extract<UrlVerdict, { ok: false }>['reason'];

/** Characters that must be percent-encoded in a URI. */
const NOT_IN_A_URI = /[^\w\-.~:/?#[\]@!$&'()*+,;=%]/gu;

let validateUri: ValidateFunction<string> | undefined;
const MAX_URL_LENGTH = 2048;
const NOT_A_URI =
  'url has a character where a URI may not have it. Percent-encode it: write [ as %5B, ] as %5D, % as %25, and a second # as %23.';
const TOO_LONG = `url must be at most ${MAX_URL_LENGTH} characters long with its other characters than ASCII percent-encoded.`;

/** Returns the URL to store: unchanged when it is a valid URI, else percent-encoded. */
export async function requireAllowedUrl(
  url: string,
  { accountId, ...rules }: { accountId: string; livemode: boolean; allowPrivateNetworks: boolean },
): Promise<string> {
  const verdict = await judgeWebhookUrl(url, {
    ...rules,
    resolve: lookupsOf(accountId),
    timeoutMs: RESOLVE_TIMEOUT_MS,
  });
  if (!verdict.ok) {
    throw new Refusal('url_invalid', sentence(verdict.reason, rules.livemode), { param: 'url' });
  }
  const stored = isUri(url) ? url : verdict.url.href.replaceAll(NOT_IN_A_URI, encodeURIComponent);
  if (!isUri(stored)) throw new Refusal('url_invalid', NOT_A_URI, { param: 'url' });
  if (stored.length > MAX_URL_LENGTH)
    throw new Refusal('parameter_invalid_string', TOO_LONG, { param: 'url' });
  return stored;
}

function isUri(text: string): boolean {
  validateUri ??= ajv.compile<string>({ type: 'string', format: 'uri' });
  return validateUri(text);
}

function sentence(reason: Reason, livemode: boolean): string {
  switch (reason) {
    case 'not_a_url':
      return 'url must be a complete URL, such as https://example.com/webhooks.';
    case 'wrong_scheme':
      return livemode
        ? 'url must start with https:// in live mode.'
        : 'url must start with https:// or http://.';
    case 'credentials':
      return 'url must not hold a user name or password. Verify the signature of each event instead.';
    case 'not_public':
      return 'url must lead to a public address: this host is, or resolves to, a private or reserved one.';
  }
}
