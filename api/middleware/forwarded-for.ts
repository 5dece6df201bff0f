import type { Deps } from '../deps.js';
import type { Step } from './in-one-step.js';

/**
 * Behind a router that nobody told us of, all buyers share its address, and its limit: one line says so.
 */
export function warnOfUntrustedProxy({ config, logger }: Deps): Step {
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
