import { setImmediate as nextTurn } from 'node:timers/promises';
import { hostAndPort } from '../../../shared/values/parse-url.js';
import { isHost, isInternational } from '../../input/formats.js';
import { sentIndex } from '../../input/normalize.js';
import { notAnHttpsUrl } from '../../input/refusal-from-ajv.js';
import type { CreateCheckoutSession } from './schema.js';

/** The URL parser takes some milliseconds for this many names of the longest and slowest kind. */
const HOSTS_A_TURN = 20;

/**
 * Checks the internationalized host names of images, which the schema leaves out: a request may have 800 of them,
 * and each takes long to parse.
 */
export async function requireImageHosts({ line_items: items }: CreateCheckoutSession): Promise<void> {
  const known = new Set<string>();
  for (const [index, { price_data }] of items.entries()) {
    const { images = [] } = price_data.product_data;
    for (const [position, url] of images.entries()) {
      const host = hostOf(url);
      if (!isInternational(host) || known.has(host)) continue;
      known.add(host);
      if (known.size % HOSTS_A_TURN === 0) await nextTurn();
      if (isHost(host)) continue;
      const item = sentIndex(items, String(index));
      const image = sentIndex(images, String(position));
      throw notAnHttpsUrl(`line_items[${item}][price_data][product_data][images][${image}]`);
    }
  }
}

function hostOf(url: string): string {
  const [, , authority = ''] = url.split(/[/?#]/, 3);
  return hostAndPort(authority);
}
