import { Agent, request } from 'undici';
import { parseUrl } from '../../shared/parse-url.js';
import { assertPublicHost, publicLookup } from '../../shared/public-address.js';
import { imageType } from './image-kind.js';

/**
 * Only from public addresses, judged for the very connection that is used; no redirects, which could lead anywhere; small,
 * quick, and really an image.
 */
export interface ImageDownloader {
  /** Undefined, or an error, when there is no usable image at this address. */
  download(address: string): Promise<Image | undefined>;
  close(): Promise<void>;
}

export interface Image {
  type: string;
  bytes: Buffer;
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 2 * 1024 * 1024;
const CONNECTIONS_PER_HOST = 8;

export function openImageDownloader(rules: { allowPrivateNetworks: boolean }): ImageDownloader {
  const { allowPrivateNetworks } = rules;
  const agent = new Agent({
    connections: CONNECTIONS_PER_HOST,
    connect: { lookup: publicLookup(allowPrivateNetworks), timeout: TIMEOUT_MS },
  });
  const schemes = allowPrivateNetworks ? ['https:', 'http:'] : ['https:'];
  return {
    async download(address) {
      const url = parseUrl(address);
      if (url === undefined || !schemes.includes(url.protocol)) return undefined;
      if (!allowPrivateNetworks) assertPublicHost(url);
      const bytes = await get(agent, url);
      const type = bytes && imageType(bytes);
      return bytes === undefined || type === undefined ? undefined : { type, bytes };
    },
    close: () => agent.destroy(),
  };
}

async function get(agent: Agent, url: URL): Promise<Buffer | undefined> {
  const { statusCode, body } = await request(url, {
    dispatcher: agent,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
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
    if (length > MAX_BYTES) return undefined;
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}
