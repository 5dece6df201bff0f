import { LRUCache } from 'lru-cache';
import { Agent, request } from 'undici';
import { nowMs } from '../../shared/clock.js';
import { parseUrl } from '../../shared/parse-url.js';
import { assertPublicHost, publicLookup } from '../../shared/public-address.js';
import { imageType } from './image-kind.js';

/**
 * Fetches merchants' images for their pages, so that buyers' browsers ask nobody but us. Only public addresses, judged
 * for the very connection that is used; no redirects, which could lead anywhere; small, quick, and really an image.
 * What was fetched, or could not be, is remembered for a while. Callers pass stored URLs only.
 */
export interface ImageProxy {
  /** Undefined when there is no usable image at this address. */
  fetch(url: string): Promise<ProxiedImage | undefined>;
  close(): Promise<void>;
}

interface ProxiedImage {
  type: string;
  bytes: Buffer;
}

interface ImageProxyOptions {
  allowPrivateNetworks: boolean;
  timeoutMs?: number;
  maxBytes?: number;
}

const TIMEOUT_MS = 5_000;
const MAX_IMAGE_BYTES = 2 * 1024 * 1024;
const CACHE_BYTES = 64 * 1024 * 1024;
const FOUND_MS = 3_600_000;
const MISSING_MS = 60_000;
const CONNECTIONS_PER_HOST = 8;

export function createImageProxy(options: ImageProxyOptions): ImageProxy {
  const { allowPrivateNetworks, timeoutMs = TIMEOUT_MS, maxBytes = MAX_IMAGE_BYTES } = options;
  const agent = new Agent({
    connections: CONNECTIONS_PER_HOST,
    connect: { lookup: publicLookup(allowPrivateNetworks), timeout: timeoutMs },
  });
  const remembered = new LRUCache<string, { image: ProxiedImage | undefined }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ image }) => (image?.bytes.length ?? 0) + 512,
    perf: { now: nowMs },
  });
  const underWay = new Map<string, Promise<ProxiedImage | undefined>>();

  async function fetchNow(address: string): Promise<ProxiedImage | undefined> {
    const image = await download(address).catch(() => undefined);
    remembered.set(address, { image }, { ttl: image === undefined ? MISSING_MS : FOUND_MS });
    return image;
  }

  async function download(address: string): Promise<ProxiedImage | undefined> {
    const url = parseUrl(address);
    const schemes = allowPrivateNetworks ? ['https:', 'http:'] : ['https:'];
    if (url === undefined || !schemes.includes(url.protocol)) return undefined;
    if (!allowPrivateNetworks) assertPublicHost(url);
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      signal,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: {
        accept: 'image/avif,image/webp,image/png,image/jpeg,image/gif',
        'user-agent': 'checkout-images',
      },
    });
    // What is cut off on purpose complains, to whoever listens; nobody else may end the process over it.
    body.on('error', () => undefined);
    if (statusCode !== 200) {
      body.destroy();
      return undefined;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of body) {
      const part = Buffer.from(chunk);
      length += part.length;
      // Leaving the loop destroys the body, and with it the connection.
      if (length > maxBytes) return undefined;
      chunks.push(part);
    }
    const bytes = Buffer.concat(chunks);
    const type = imageType(bytes);
    return type === undefined ? undefined : { type, bytes };
  }

  return {
    async fetch(url) {
      const known = remembered.get(url);
      if (known !== undefined) return known.image;
      const asked = underWay.get(url) ?? fetchNow(url).finally(() => underWay.delete(url));
      underWay.set(url, asked);
      return await asked;
    },
    close: () => agent.destroy(),
  };
}
