import type { Deps } from '../deps/deps.js';
import type { Preparation } from './preparations.js';

/**
 * Warns once when requests come through a proxy that TRUST_PROXY does not name: all buyers would share its address
 * and rate limit.
 */
export function warnOfUntrustedProxy({ config, logger }: Deps): Preparation {
  let warned = !config.production || config.trustProxy !== false;
  return (req) => {
    if (!warned && req.headers['x-forwarded-for'] !== undefined) {
      warned = true;
      logger.warn({
        event: 'config.untrusted_proxy',
        hint: 'Requests carry X-Forwarded-For, but TRUST_PROXY is not set: limits per IP address count the proxy. Behind one router set TRUST_PROXY=1.',
      });
    }
  };
}
