import { judgeWebhookUrl, type Resolve } from '../../shared/values/public-address.js';
import { PUBLIC_IPV4, PUBLIC_IPV6, type Refusal } from './hostile-addresses.js';

/** A resolver that returns these addresses for every name. */
export const answering =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses;

export const TEST_MODE = {
  livemode: false,
  allowPrivateNetworks: false,
  resolve: answering(PUBLIC_IPV4, PUBLIC_IPV6),
  timeoutMs: 2000,
};
export const LIVE_MODE = { ...TEST_MODE, livemode: true };

/** The reason for which a URL is refused. */
export async function reasonOf(url: string, rules = TEST_MODE): Promise<Refusal | undefined> {
  const verdict = await judgeWebhookUrl(url, rules);
  return verdict.ok ? undefined : verdict.reason;
}
